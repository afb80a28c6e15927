/* Two ranks ask MPI for what is seldom asked for, and print what they get: the same with or without a library before it. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAST 8

static int rank, other;
static char text[1 << 16];

static void say(const char *what, int number)
{
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "rank %d: %s %d\n", rank, what, number);
}

/* Numbers of errors differ between libraries in nothing but their class. */
static void say_error(const char *what, int error)
{
    int class;
    MPI_Error_class(error, &class);
    say(what, class);
}

static void say_status(const char *what, const MPI_Status *status)
{
    int count;
    MPI_Get_count(status, MPI_INT, &count);
    say(what, status->MPI_SOURCE);
    say("  tag", status->MPI_TAG);
    say("  count", count);
}

/* Null requests, and persistent ones that nobody started. */
static void nothing(void)
{
    MPI_Request requests[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[4];
    int index, flag, number, indices[4];
    say_error("wait for null", MPI_Wait(&requests[0], &statuses[0]));
    say_status("its status", &statuses[0]);
    say_error("wait for all null", MPI_Waitall(4, requests, statuses));
    for (int i = 0; i < 4; i++)
        say_status("its status", &statuses[i]);
    MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
    say("any of null", index == MPI_UNDEFINED);
    MPI_Waitsome(4, requests, &number, indices, MPI_STATUSES_IGNORE);
    say("some of null", number == MPI_UNDEFINED);
    MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE);
    say("all of null", flag);
    MPI_Recv_init(&number, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &requests[2]);
    say_error("wait for one that is not started", MPI_Waitall(4, requests, statuses));
    say_status("its status", &statuses[2]);
    MPI_Start(&requests[2]);
    MPI_Send(&rank, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
    say_error("wait for one that is", MPI_Waitall(4, requests, statuses));
    say_status("its status", &statuses[2]);
    say("it is still there", requests[2] != MPI_REQUEST_NULL);
    MPI_Request_free(&requests[2]);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
}

/* One message of three is longer than its buffer. */
static void too_long(void)
{
    int numbers[64] = {0};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int tag = 1; tag <= 3; tag++)
        MPI_Send(numbers, tag == 2 ? 8 : 2, MPI_INT, other, tag, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request requests[3];
    MPI_Status statuses[3];
    for (int tag = 1; tag <= 3; tag++)
        MPI_Irecv(&numbers[8 * tag], 4, MPI_INT, other, tag, MPI_COMM_WORLD, &requests[tag - 1]);
    int error = MPI_Waitall(3, requests, statuses), failed = 0;
    say_error("one is too long", error);
    for (int i = 0; i < 3; i++) {
        int class;
        MPI_Error_class(statuses[i].MPI_ERROR, &class);
        if (class == MPI_ERR_PENDING) /* It need not have ended yet. */
            MPI_Wait(&requests[i], &statuses[i]);
        else
            failed += class != MPI_SUCCESS;
    }
    say("of them failed", failed);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(numbers, 8, MPI_INT, other, 4, MPI_COMM_WORLD);
    say_error("one receive", MPI_Recv(numbers, 4, MPI_INT, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    say_error("both at once", MPI_Sendrecv(numbers, 8, MPI_INT, other, 5, numbers + 32, 4, MPI_INT, other, 5, MPI_COMM_WORLD,
                                           MPI_STATUS_IGNORE));
    say_error("a negative count", MPI_Send(numbers, -1, MPI_INT, other, 6, MPI_COMM_WORLD));
    say_error("no such rank", MPI_Send(numbers, 1, MPI_INT, 99, 6, MPI_COMM_WORLD));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void cancelled(void)
{
    MPI_Request request;
    MPI_Status status;
    int number, flag;
    MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 40, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    say("cancelled", flag);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Send(&rank, 1, MPI_INT, 1, 40, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        say_status("what came after", &status);
    }
}

/* An intercommunicator: its ranks are those of the other side. */
static void between(void)
{
    MPI_Comm half, both, merged;
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, other, 1, &both);
    int received = -1, sum = 0;
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, &received, 1, MPI_INT, 0, 1, both, MPI_STATUS_IGNORE);
    say("from the other side", received);
    MPI_Barrier(both);
    MPI_Intercomm_merge(both, rank, &merged);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
    say("of both", sum);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

/* Threads that exchange messages at once. */
static void *exchange(void *argument)
{
    int thread = (int)(size_t)argument, bad = 0;
    for (int round = 0; round < 200; round++) {
        int sent[LAST], received[LAST];
        MPI_Request requests[2 * LAST];
        for (int i = 0; i < LAST; i++) {
            sent[i] = thread * 1000 + round + i;
            MPI_Irecv(&received[i], 1, MPI_INT, other, thread * 100 + i, MPI_COMM_WORLD, &requests[2 * i]);
            MPI_Isend(&sent[i], 1, MPI_INT, other, thread * 100 + i, MPI_COMM_WORLD, &requests[2 * i + 1]);
        }
        if (round % 2) {
            MPI_Waitall(2 * LAST, requests, MPI_STATUSES_IGNORE);
        } else {
            for (int left = 2 * LAST; left > 0; left--) {
                int index;
                MPI_Waitany(2 * LAST, requests, &index, MPI_STATUS_IGNORE);
            }
        }
        for (int i = 0; i < LAST; i++)
            bad += received[i] != sent[i];
    }
    return (void *)(size_t)bad;
}

static void threads(void)
{
    pthread_t ids[4];
    size_t bad = 0;
    for (size_t i = 0; i < 4; i++)
        pthread_create(&ids[i], NULL, exchange, (void *)(i + 1));
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(ids[i], &result);
        bad += (size_t)result;
    }
    say("bad exchanges", (int)bad);
}

/* More requests than are waited for at once. */
static void many(void)
{
    enum { MANY = 700 };
    static int sent[MANY], received[MANY];
    static MPI_Request requests[2 * MANY];
    static MPI_Status statuses[2 * MANY];
    int bad = 0;
    for (int i = 0; i < MANY; i++) {
        sent[i] = i;
        MPI_Irecv(&received[i], 1, MPI_INT, MPI_ANY_SOURCE, MANY - i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < MANY; i++)
        MPI_Isend(&sent[i], 1, MPI_INT, other, MANY - i, MPI_COMM_WORLD, &requests[MANY + i]);
    MPI_Waitall(2 * MANY, requests, statuses);
    for (int i = 0; i < MANY; i++)
        bad += received[i] != i || statuses[i].MPI_TAG != MANY - i || statuses[i].MPI_SOURCE != other ||
               requests[i] != MPI_REQUEST_NULL || requests[MANY + i] != MPI_REQUEST_NULL;
    say("bad of many", bad);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    nothing();
    too_long();
    cancelled();
    between();
    many();
    if (provided == MPI_THREAD_MULTIPLE)
        threads();
    MPI_Barrier(MPI_COMM_WORLD);
    /* One after the other. */
    if (rank == 1)
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    fputs(text, stdout);
    fflush(stdout);
    if (rank == 0)
        MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
