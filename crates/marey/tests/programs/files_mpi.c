/* Ranks that write a file together and read it again: each by itself, and all at once. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>

#define BLOCK 10000

int main(int count, char **words) {
    MPI_Init(&count, &words);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *block = malloc(BLOCK), *other = malloc(BLOCK);
    memset(block, 'a' + rank, BLOCK);
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, words[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    for (int i = 0; i < 5; i++)
        MPI_File_write_at(file, (MPI_Offset)(i * size + rank) * BLOCK, block, BLOCK, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(file, (MPI_Offset)((rank + 1) % size) * BLOCK, other, BLOCK, MPI_CHAR, MPI_STATUS_IGNORE);
    if (other[5] != 'a' + (rank + 1) % size) MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_File_write_at_all(file, (MPI_Offset)(5 * size + rank) * BLOCK, block, BLOCK, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    /* Beside it, each rank has a file of its own. */
    char name[100];
    snprintf(name, sizeof name, "own-%d", rank);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (write(fd, block, 777) != 777) MPI_Abort(MPI_COMM_WORLD, 4);
    close(fd);
    free(block);
    free(other);
    MPI_Finalize();
    return 0;
}
