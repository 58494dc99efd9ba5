#!/usr/bin/python3
"""Calls MPI from Python in the ways that mpi4py offers: pickled objects, buffers, requests, windows.

Checks every value that arrives and prints one line. Here libmpi is loaded by a Python module, not
by the program, so that a tool cannot find it in the global scope. Runs on 2, 4 ... ranks.
"""

import sys
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
right, left = (rank + 1) % size, (rank - 1) % size
errors = []


def expect(found, wanted):
    if found != wanted:
        errors.append(f"{found!r} instead of {wanted!r}")


def objects():
    request = world.isend({"from": rank}, dest=right, tag=1)
    expect(world.recv(source=left, tag=1), {"from": left})
    request.wait()
    expect(world.sendrecv("x" * 1000, dest=left, sendtag=2, source=right, recvtag=2), "x" * 1000)
    expect(world.bcast([1, "two"] if rank == 0 else None, root=0), [1, "two"])
    expect(world.allreduce(rank), size * (size - 1) // 2)
    expect(world.gather(rank, root=1), list(range(size)) if rank == 1 else None)
    expect(world.scatter([f"to {i}" for i in range(size)] if rank == 0 else None), f"to {rank}")
    expect(world.alltoall([rank] * size), list(range(size)))


def buffers():
    mine, theirs = array("d", [rank, 0.5]), array("d", [0, 0])
    requests = [world.Irecv([theirs, MPI.DOUBLE], source=MPI.ANY_SOURCE, tag=3),
                world.Isend([mine, MPI.DOUBLE], dest=right, tag=3)]
    MPI.Request.Waitall(requests)
    expect(list(theirs), [left, 0.5])
    status = MPI.Status()
    world.Sendrecv([mine, MPI.DOUBLE], right, 4, [theirs, MPI.DOUBLE], left, 4, status)
    expect((status.Get_source(), status.Get_count(MPI.DOUBLE)), (left, 2))
    expect(world.Iprobe(source=MPI.ANY_SOURCE, tag=99), False)
    total = array("d", [0, 0])
    world.Allreduce([mine, MPI.DOUBLE], [total, MPI.DOUBLE], op=MPI.SUM)
    expect(total[1], size / 2)
    world.Barrier()


def communicators():
    half = world.Split(rank % 2, rank)
    expect(half.Get_rank(), rank // 2)
    half.Barrier()
    half.Free()
    cart = world.Create_cart([size], periods=[True])
    expect(cart.Shift(0, 1), (left, right))
    cart.Free()
    memory = array("i", [-1, -1])
    window = MPI.Win.Create(memory, disp_unit=4, comm=world)
    window.Fence()
    window.Put([array("i", [rank]), MPI.INT], right)
    window.Fence()
    window.Free()
    expect(memory[0], left)


objects()
buffers()
communicators()
failed = world.allreduce(len(errors))
for error in errors:
    print(f"rank {rank}: {error}", file=sys.stderr)
if rank == 0:
    print(f"py_all size {size} errors {failed}")
sys.exit(failed != 0)
