//! Collectives: their signatures, and what of them is recorded.

#![expect(unsafe_code, reason = "C functions under MPI's names")]

use hangscope_recorder::OpKind;

use crate::flow;
use crate::narrow::Narrowing;
use crate::shape::side;
use crate::wrap::wrap;

/// Each line makes the functions that block, that only begin, and that prepare, each in both widths.
macro_rules! collectives {
    ($(
        $plain:ident $large:ident $begun:ident $begun_large:ident $prepared:ident $prepared_large:ident
        $arguments:tt on $communicator:ident $(root $root:ident)?: $site:ident => $operation:expr;
    )*) => {
        $(
            collectives!(@block $plain Plain $arguments $communicator { collectives!(@root $($root)?) }; $site $operation);
            collectives!(@block $large Large $arguments $communicator { collectives!(@root $($root)?) }; $site $operation);
            collectives!(@begin $begun Plain $arguments $communicator { collectives!(@root $($root)?) }; $site $operation);
            collectives!(@begin $begun_large Large $arguments $communicator { collectives!(@root $($root)?) }; $site $operation);
            collectives!(@prepare $prepared Plain $arguments $communicator { collectives!(@root $($root)?) }; $site $operation);
            collectives!(@prepare $prepared_large Large $arguments $communicator { collectives!(@root $($root)?) }; $site $operation);
        )*
    };
    (@root) => { None };
    (@root $root:ident) => { Some($root) };
    (@block $name:ident $width:ident ($first:ident: $first_type:ident $(, $argument:ident: $type:ident)*)
        $communicator:ident $root:block; $site:ident $operation:expr) => {
        wrap!($name, $width, ($first: $first_type $(, $argument: $type)*),
            Narrowing::on($communicator, $root, $first), |real, narrowing| {
            flow::blocking(
                $communicator,
                |$site| { let _ = ($first $(, $argument)*); $operation },
                || real($first $(, $argument)*),
            )
        });
    };
    (@begin $name:ident $width:ident ($first:ident: $first_type:ident $(, $argument:ident: $type:ident)*)
        $communicator:ident $root:block; $site:ident $operation:expr) => {
        wrap!($name, $width, ($first: $first_type, $($argument: $type,)* request: Out),
            Narrowing::on($communicator, $root, $first), |real, narrowing| {
            flow::nonblocking(
                $communicator,
                |$site| { let _ = ($first $(, $argument)*); $operation },
                request,
                || (real($first, $($argument,)* request), narrowing.keep()),
            )
        });
    };
    (@prepare $name:ident $width:ident ($first:ident: $first_type:ident $(, $argument:ident: $type:ident)*)
        $communicator:ident $root:block; $site:ident $operation:expr) => {
        wrap!($name, $width, ($first: $first_type, $($argument: $type,)* info: Handle, request: Out),
            Narrowing::on($communicator, $root, $first), |real, narrowing| {
            flow::persistent(
                $communicator,
                |$site| { let _ = ($first $(, $argument)*); $operation },
                request,
                || (real($first, $($argument,)* info, request), narrowing.keep()),
            )
        });
    };
}

/// A barrier has no counts, and so one width.
macro_rules! barrier {
    ($($kind:tt $name:ident;)*) => {
        $(collectives!(@$kind $name Plain (communicator: Handle) communicator { None }; site site.bare(OpKind::Barrier));)*
    };
}

barrier! {
    block MPI_Barrier;
    begin MPI_Ibarrier;
    prepare MPI_Barrier_init;
}

collectives! {
    MPI_Bcast MPI_Bcast_c MPI_Ibcast MPI_Ibcast_c MPI_Bcast_init MPI_Bcast_init_c
        (buffer: Address, count: Count, datatype: Handle, root: Number, comm: Handle) on comm:
        site => site.same(OpKind::Broadcast, count, datatype);
    MPI_Allreduce MPI_Allreduce_c MPI_Iallreduce MPI_Iallreduce_c MPI_Allreduce_init MPI_Allreduce_init_c
        (send: Address, recv: Address, count: Count, datatype: Handle, op: Handle, comm: Handle) on comm:
        site => site.same(OpKind::AllReduce, count, datatype);
    MPI_Scan MPI_Scan_c MPI_Iscan MPI_Iscan_c MPI_Scan_init MPI_Scan_init_c
        (send: Address, recv: Address, count: Count, datatype: Handle, op: Handle, comm: Handle) on comm:
        site => site.same(OpKind::Scan, count, datatype);
    MPI_Exscan MPI_Exscan_c MPI_Iexscan MPI_Iexscan_c MPI_Exscan_init MPI_Exscan_init_c
        (send: Address, recv: Address, count: Count, datatype: Handle, op: Handle, comm: Handle) on comm:
        site => site.same(OpKind::ExclusiveScan, count, datatype);
    MPI_Reduce MPI_Reduce_c MPI_Ireduce MPI_Ireduce_c MPI_Reduce_init MPI_Reduce_init_c
        (send: Address, recv: Address, count: Count, datatype: Handle, op: Handle, root: Number, comm: Handle) on comm:
        site => site.to_root(OpKind::Reduce, count, datatype, root);
    MPI_Reduce_scatter_block MPI_Reduce_scatter_block_c MPI_Ireduce_scatter_block MPI_Ireduce_scatter_block_c
        MPI_Reduce_scatter_block_init MPI_Reduce_scatter_block_init_c
        (send: Address, recv: Address, count: Count, datatype: Handle, op: Handle, comm: Handle) on comm:
        site => site.scattered(count, datatype);
    MPI_Reduce_scatter MPI_Reduce_scatter_c MPI_Ireduce_scatter MPI_Ireduce_scatter_c
        MPI_Reduce_scatter_init MPI_Reduce_scatter_init_c
        (send: Address, recv: Address, counts: Counts, datatype: Handle, op: Handle, comm: Handle) on comm:
        site => site.scattered_v(counts, datatype);
    MPI_Gather MPI_Gather_c MPI_Igather MPI_Igather_c MPI_Gather_init MPI_Gather_init_c
        (send: Address, sent: Count, send_type: Handle, recv: Address, received: Count, recv_type: Handle, root: Number,
         comm: Handle) on comm:
        site => site.gather(side(send, sent, send_type), side(recv, received, recv_type), root);
    MPI_Gatherv MPI_Gatherv_c MPI_Igatherv MPI_Igatherv_c MPI_Gatherv_init MPI_Gatherv_init_c
        (send: Address, sent: Count, send_type: Handle, recv: Address, received: RootCounts, places: RootCounts,
         recv_type: Handle, root: Number, comm: Handle) on comm root root:
        site => site.gather_v(side(send, sent, send_type), side(recv, received, recv_type), root);
    MPI_Scatter MPI_Scatter_c MPI_Iscatter MPI_Iscatter_c MPI_Scatter_init MPI_Scatter_init_c
        (send: Address, sent: Count, send_type: Handle, recv: Address, received: Count, recv_type: Handle, root: Number,
         comm: Handle) on comm:
        site => site.scatter(side(send, sent, send_type), side(recv, received, recv_type), root);
    MPI_Scatterv MPI_Scatterv_c MPI_Iscatterv MPI_Iscatterv_c MPI_Scatterv_init MPI_Scatterv_init_c
        (send: Address, sent: RootCounts, places: RootCounts, send_type: Handle, recv: Address, received: Count,
         recv_type: Handle, root: Number, comm: Handle) on comm root root:
        site => site.scatter_v(side(send, sent, send_type), side(recv, received, recv_type), root);
    MPI_Allgather MPI_Allgather_c MPI_Iallgather MPI_Iallgather_c MPI_Allgather_init MPI_Allgather_init_c
        (send: Address, sent: Count, send_type: Handle, recv: Address, received: Count, recv_type: Handle,
         comm: Handle) on comm:
        site => site.gathered(OpKind::AllGather, side(send, sent, send_type), side(recv, received, recv_type));
    MPI_Allgatherv MPI_Allgatherv_c MPI_Iallgatherv MPI_Iallgatherv_c MPI_Allgatherv_init MPI_Allgatherv_init_c
        (send: Address, sent: Count, send_type: Handle, recv: Address, received: Counts, places: Counts,
         recv_type: Handle, comm: Handle) on comm:
        site => site.gathered_v(OpKind::AllGatherV, side(send, sent, send_type), side(recv, received, recv_type));
    MPI_Alltoall MPI_Alltoall_c MPI_Ialltoall MPI_Ialltoall_c MPI_Alltoall_init MPI_Alltoall_init_c
        (send: Address, sent: Count, send_type: Handle, recv: Address, received: Count, recv_type: Handle,
         comm: Handle) on comm:
        site => site.exchanged(side(send, sent, send_type), side(recv, received, recv_type));
    MPI_Alltoallv MPI_Alltoallv_c MPI_Ialltoallv MPI_Ialltoallv_c MPI_Alltoallv_init MPI_Alltoallv_init_c
        (send: Address, sent: SenderCounts, places: SenderCounts, send_type: Handle, recv: Address, received: Counts,
         recv_places: Counts, recv_type: Handle, comm: Handle) on comm:
        site => site.exchanged_v(side(send, sent, send_type), side(recv, received, recv_type));
    MPI_Alltoallw MPI_Alltoallw_c MPI_Ialltoallw MPI_Ialltoallw_c MPI_Alltoallw_init MPI_Alltoallw_init_c
        (send: Address, sent: SenderCounts, places: SenderCounts, send_types: Address, recv: Address, received: Counts,
         recv_places: Counts, recv_types: Address, comm: Handle) on comm:
        site => site.bare(OpKind::AllToAll);
}

// Of the exchanges with neighbours the large-count forms are left alone: how many numbers their arrays have is known to
// the topology only.
macro_rules! neighbors {
    ($($plain:ident $begun:ident $prepared:ident $arguments:tt on $communicator:ident: $site:ident => $operation:expr;)*) => {
        $(
            collectives!(@block $plain Plain $arguments $communicator { None }; $site $operation);
            collectives!(@begin $begun Plain $arguments $communicator { None }; $site $operation);
            collectives!(@prepare $prepared Plain $arguments $communicator { None }; $site $operation);
        )*
    };
}

neighbors! {
    MPI_Neighbor_allgather MPI_Ineighbor_allgather MPI_Neighbor_allgather_init
        (send: Address, sent: Count, send_type: Handle, recv: Address, received: Count, recv_type: Handle,
         comm: Handle) on comm:
        site => site.bare(OpKind::NeighborAllGather);
    MPI_Neighbor_allgatherv MPI_Ineighbor_allgatherv MPI_Neighbor_allgatherv_init
        (send: Address, sent: Count, send_type: Handle, recv: Address, received: Address, places: Address,
         recv_type: Handle, comm: Handle) on comm:
        site => site.bare(OpKind::NeighborAllGather);
    MPI_Neighbor_alltoall MPI_Ineighbor_alltoall MPI_Neighbor_alltoall_init
        (send: Address, sent: Count, send_type: Handle, recv: Address, received: Count, recv_type: Handle,
         comm: Handle) on comm:
        site => site.bare(OpKind::NeighborAllToAll);
    MPI_Neighbor_alltoallv MPI_Ineighbor_alltoallv MPI_Neighbor_alltoallv_init
        (send: Address, sent: Address, places: Address, send_type: Handle, recv: Address, received: Address,
         recv_places: Address, recv_type: Handle, comm: Handle) on comm:
        site => site.bare(OpKind::NeighborAllToAll);
    MPI_Neighbor_alltoallw MPI_Ineighbor_alltoallw MPI_Neighbor_alltoallw_init
        (send: Address, sent: Address, places: Address, send_types: Address, recv: Address, received: Address,
         recv_places: Address, recv_types: Address, comm: Handle) on comm:
        site => site.bare(OpKind::NeighborAllToAll);
}
