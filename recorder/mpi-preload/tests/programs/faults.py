"""Four ranks in Python, with one thing wrong. The fault is the first argument."""

import sys
import time
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
right, left = (rank + 1) % size, (rank - 1) % size
fault = sys.argv[1]

for step in range(5):
    assert world.allreduce(rank) == 6
    parts = world.gather({"rank": rank, "text": "x" * (rank * 100)}, root=1)
    world.bcast(parts if rank == 1 else None, root=1)
    assert world.alltoall(list(range(size))) == [rank] * size
    total = array("d", [0.0] * 8)
    world.Allreduce(array("d", range(8)), total)
    assert total[7] == 28.0

    # Counts that differ, as the bindings give them to blocking and to begun calls.
    counts = [1, 2, 3, 4]
    own, all_parts = array("i", [rank] * (rank + 1)), array("i", [-1] * 10)
    world.Allgatherv(own, [all_parts, counts])
    assert list(all_parts) == [0, 1, 1, 2, 2, 2, 3, 3, 3, 3]
    world.Gatherv(own, [all_parts, counts] if rank == 2 else None, root=2)
    world.Scatterv([all_parts, counts] if rank == 2 else None, own, root=2)
    requests = []
    for _ in range(3):
        got = array("i", [-1] * 10)
        requests.append((world.Iallgatherv(own, [got, counts]), got))
    for request, got in requests:
        request.Wait()
        assert list(got) == [0, 1, 1, 2, 2, 2, 3, 3, 3, 3]
    world.Reduce_scatter(array("i", [1] * 10), own, recvcounts=counts)
    assert own[0] == size
    sent = array("i", [rank] * (size * (rank + 1)))
    world.Alltoallv([sent, [rank + 1] * size], [all_parts, counts])
    assert list(all_parts) == [0, 1, 1, 2, 2, 2, 3, 3, 3, 3]

    if rank % 2 == 0:
        world.send(list(range(rank + 1)), right, tag=4)
    else:
        assert world.recv(source=MPI.ANY_SOURCE, tag=4) == list(range(rank))
    begun, awaited = world.isend("hello", right), world.irecv(source=left)
    assert awaited.wait() == "hello"
    begun.wait()
    assert world.sendrecv(rank, right, source=left) == left

half = world.Split(rank % 2, rank)
half.barrier()
half.Free()

if fault == "sleep" and rank == 1:
    time.sleep(600)
elif fault == "recv" and rank == 3:
    world.recv(source=0, tag=9)
if not (fault == "skip" and rank == 2):
    world.barrier()
world.barrier()
