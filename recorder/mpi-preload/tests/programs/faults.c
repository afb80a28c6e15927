/* A program of four ranks that does a bit of everything, and one thing wrong. The fault is the first argument. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static const char *fault;

static int is(const char *name) { return strcmp(fault, name) == 0; }

static void reduce(MPI_Comm comm, int count)
{
    double *in = calloc(count, sizeof *in), *out = calloc(count, sizeof *out);
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
    free(in);
    free(out);
}

/* Every kind of collective, with counts that may differ where MPI lets them. */
static void collectives(void)
{
    int counts[4], places[4], own = rank + 1, part[16] = {0}, all[64] = {0}, total = 0;
    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        places[i] = total;
        total += i + 1;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(part, 4, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Reduce(rank == 2 ? MPI_IN_PLACE : part, rank == 2 ? part : NULL, 4, MPI_INT, MPI_MAX, 2, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, part, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Gather(part, 2, MPI_INT, all, 2, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Gatherv(part, own, MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatter(all, 2, MPI_INT, part, 2, MPI_INT, 3, MPI_COMM_WORLD);
    MPI_Scatterv(all, counts, places, MPI_INT, part, own, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgather(part, 2, MPI_INT, all, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgatherv(part, own, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(part, 2, MPI_INT, all, 2, MPI_INT, MPI_COMM_WORLD);
    int from[4] = {own, own, own, own}, from_places[4] = {0, 0, 0, 0};
    MPI_Alltoallv(part, from, from_places, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Reduce_scatter(all, part, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(all, part, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan(part, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(part, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    /* The same four integers, as one of a type of the program's own on half of the ranks. */
    MPI_Datatype four;
    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_commit(&four);
    MPI_Bcast(part, rank % 2 ? 1 : 4, rank % 2 ? four : MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Type_free(&four);
    MPI_Request request;
    MPI_Iallreduce(part, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    int flag = 0;
    while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

/* A ring, to the right. */
static void ring(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, sent = rank, received = -1;
    MPI_Sendrecv(&sent, 1, MPI_INT, right, 3, &received, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(&sent, 1, MPI_INT, right, 0, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Request requests[3];
    MPI_Status statuses[3];
    MPI_Irecv(&received, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&sent, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &requests[1]);
    requests[2] = MPI_REQUEST_NULL;
    MPI_Waitall(3, requests, statuses);
    if (statuses[0].MPI_SOURCE != left || statuses[0].MPI_TAG != 5 || statuses[2].MPI_SOURCE != MPI_ANY_SOURCE)
        MPI_Abort(MPI_COMM_WORLD, 7);
    for (int i = 0; i < 3; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            MPI_Abort(MPI_COMM_WORLD, 8);
    /* Nobody at the ends of a line. */
    int next = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, last = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&sent, 1, MPI_INT, next, 3, &received, 1, MPI_INT, last, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void persistent(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, sent = rank, received = -1;
    MPI_Request requests[2];
    MPI_Recv_init(&received, 1, MPI_INT, left, 9, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&sent, 1, MPI_INT, right, 9, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (received != left)
            MPI_Abort(MPI_COMM_WORLD, 9);
    }
    /* Inactive ones have ended. */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* All others send to rank 0, which takes what comes. */
static void wildcards(void)
{
    int value = rank;
    MPI_Status status;
    if (rank != 0) {
        MPI_Send(&value, 1, MPI_INT, 0, 10 + rank, MPI_COMM_WORLD);
        MPI_Ssend(&value, 1, MPI_INT, 0, 20, MPI_COMM_WORLD);
        MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Send(&value, 1, MPI_INT, 0, 21, MPI_COMM_WORLD);
        MPI_Send(&value, 1, MPI_INT, 0, 22, MPI_COMM_WORLD);
        return;
    }
    for (int i = 1; i < size; i++) {
        MPI_Recv(&value, 1, MPI_INT, i, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG != 10 + i || value != i)
            MPI_Abort(MPI_COMM_WORLD, 10);
    }
    for (int i = 1; i < size; i++)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Request requests[3];
    for (int i = 1; i < size; i++)
        MPI_Irecv(&value, 1, MPI_INT, i, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i - 1]);
    for (int i = 1; i < size; i++) {
        int index;
        MPI_Waitany(size - 1, requests, &index, MPI_STATUS_IGNORE);
    }
    for (int i = 1; i < size; i++) {
        MPI_Probe(MPI_ANY_SOURCE, 21, MPI_COMM_WORLD, &status);
        MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 1; i < size; i++) {
        MPI_Message message;
        MPI_Mprobe(MPI_ANY_SOURCE, 22, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
}

/* Two messages that are received in the other order. */
static void tags(void)
{
    int a = 1, b = 2;
    if (rank == 0) {
        MPI_Send(&a, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
        MPI_Ssend(&b, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(&b, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&a, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void communicators(void)
{
    MPI_Comm half, copy, made, grid, row;
    MPI_Group world, even;
    MPI_Request request;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &half);
    reduce(half, 5);
    for (int i = 0; i < 2; i++) {
        if (!(is("split") && rank == 3 && i == 1))
            reduce(half, 6);
    }
    MPI_Comm_idup(half, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    reduce(copy, 2);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    reduce(copy, 2);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int ranks[2] = {0, 2};
    MPI_Group_incl(world, 2, ranks, &even);
    MPI_Comm_create(MPI_COMM_WORLD, even, &made);
    if (made != MPI_COMM_NULL) {
        reduce(made, 3);
        MPI_Comm_free(&made);
    }
    if (rank % 2 == 0) {
        MPI_Comm_create_group(MPI_COMM_WORLD, even, 4, &made);
        reduce(made, 3);
        MPI_Comm_free(&made);
    }
    int extents[2] = {2, 2}, periods[2] = {0, 0}, remain[2] = {0, 1};
    MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, 0, &grid);
    MPI_Cart_sub(grid, remain, &row);
    reduce(row, 1);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&copy);
    MPI_Group_free(&even);
    MPI_Group_free(&world);
    reduce(MPI_COMM_SELF, 1);
}

static void do_wrong(void)
{
    static char large[1 << 22];
    int value = 0;
    MPI_Request requests[4];
    if (is("skip") && rank == 2)
        return;
    if (is("sleep") && rank == 1)
        sleep(600);
    if (is("kill") && rank == 3)
        raise(SIGKILL);
    if (is("send") && rank == 1)
        MPI_Send(large, sizeof large, MPI_BYTE, 3, 1, MPI_COMM_WORLD);
    if (is("recv") && rank == 1)
        MPI_Recv(&value, 1, MPI_INT, 3, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is("any") && rank == 1)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is("waitall")) {
        int got[3];
        if (rank == 0) {
            for (int i = 1; i < 4; i++)
                MPI_Irecv(&got[i - 1], 1, MPI_INT, i, 2, MPI_COMM_WORLD, &requests[i - 1]);
            MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        } else if (rank != 2) {
            MPI_Send(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        }
    }
    if (is("deadlock") && rank < 2)
        MPI_Send(large, sizeof large, MPI_BYTE, 1 - rank, 6, MPI_COMM_WORLD);
    if (is("begun")) {
        double in = 0, out = 0;
        if (rank != 3) {
            MPI_Iallreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        } else {
            sleep(600);
        }
    }
    if (is("make")) {
        MPI_Comm copy;
        if (rank == 3)
            sleep(600);
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    }
    if (is("exchange")) {
        int right = (rank + 1) % size, left = (rank + size - 1) % size;
        if (rank != 2)
            MPI_Sendrecv(large, sizeof large / 2, MPI_BYTE, right, 3, large + sizeof large / 2, sizeof large / 2, MPI_BYTE,
                         left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    reduce(MPI_COMM_WORLD, 100);
}

int main(int argc, char **argv)
{
    fault = argc > 1 ? argv[1] : "none";
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (is("split")) {
        /* All ranks have done the same before: so the ranks of one half can be held against those of the other. */
        communicators();
        MPI_Finalize();
        return 0;
    }
    collectives();
    for (int i = 0; i < 5; i++) {
        ring();
        wildcards();
        tags();
        reduce(MPI_COMM_WORLD, 100);
    }
    persistent();
    communicators();
    do_wrong();
    for (int i = 0; i < 3; i++)
        reduce(MPI_COMM_WORLD, 100);
    MPI_Finalize();
    return 0;
}
