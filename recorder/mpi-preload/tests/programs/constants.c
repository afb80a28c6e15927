/* Prints what the MPI library's header says of its binary interface. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

#define SAY(name, value) printf(name " %lld\n", (long long)(value))

int main(void)
{
    SAY("handle_bytes", sizeof(MPI_Request) == sizeof(MPI_Comm) ? sizeof(MPI_Comm) : 0);
    SAY("status_bytes", sizeof(MPI_Status));
    SAY("source_at", offsetof(MPI_Status, MPI_SOURCE));
    SAY("tag_at", offsetof(MPI_Status, MPI_TAG));
    SAY("error_at", offsetof(MPI_Status, MPI_ERROR));
    SAY("status_ignore", (size_t)MPI_STATUS_IGNORE);
    SAY("statuses_ignore", (size_t)MPI_STATUSES_IGNORE);
    SAY("in_place", (size_t)MPI_IN_PLACE);
    SAY("any_source", MPI_ANY_SOURCE);
    SAY("any_tag", MPI_ANY_TAG);
    SAY("proc_null", MPI_PROC_NULL);
    SAY("undefined", MPI_UNDEFINED);
    SAY("err_in_status", MPI_ERR_IN_STATUS);
    SAY("err_pending", MPI_ERR_PENDING);
    SAY("success", MPI_SUCCESS);
    SAY("count_bytes", sizeof(MPI_Count));
#ifndef OPEN_MPI
    SAY("comm_world", (size_t)MPI_COMM_WORLD);
    SAY("comm_null", (size_t)MPI_COMM_NULL);
    SAY("request_null", (size_t)MPI_REQUEST_NULL);
    SAY("message_null", (size_t)MPI_MESSAGE_NULL);
    SAY("datatype_null", (size_t)MPI_DATATYPE_NULL);
    SAY("byte", (size_t)MPI_BYTE);
#endif
    return 0;
}
