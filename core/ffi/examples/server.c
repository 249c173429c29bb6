/*
 * A server of POSIX threads that calls a backend through a breaker.
 *
 * Two workers serve requests. For each one they connect to the backend and ask it. While the backend is
 * down each connection would end in a timeout; the breaker opens instead, and the workers answer "503" at
 * once and say when to come back. When the backend answers again one request is let through as a probe,
 * and the server is well again.
 *
 * The program is its own backend and its own client: it plays an outage and exits with 0 only if the
 * clients saw what this comment says.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "nanobreaker.h"

#define WORKERS 2
#define BACKEND_TIMEOUT_MS 200
#define OPEN_FOR_MS 500

/* One breaker for the backend: all workers share it. A static is zero, as its memory has to be. */
static nanobreaker_t backend_breaker;

static uint64_t monotonic_ms(void *context)
{
    struct timespec now;
    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void die(const char *what)
{
    perror(what);
    exit(2);
}

/* Three failures within ten seconds open it. */
static void guard_the_backend(void)
{
    nanobreaker_settings_t settings;
    nanobreaker_fault_t fault = {0};
    nanobreaker_defaults(&settings, monotonic_ms, NULL);
    settings.open_for_ms = OPEN_FOR_MS;
    int32_t error =
        nanobreaker_init_failures(&backend_breaker, sizeof backend_breaker, 3, 10000, &settings, &fault);
    if (error != NANOBREAKER_OK) {
        fprintf(stderr, "no breaker: error %d, setting %u is %llu, not from %llu to %llu\n", (int)error,
                (unsigned)fault.field, (unsigned long long)fault.value, (unsigned long long)fault.minimum,
                (unsigned long long)fault.maximum);
        exit(2);
    }
}

/* Sockets: listening on a port that the system chooses, connecting to it, one line each way. */

static int listen_anywhere(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 64) != 0 || getsockname(listener, (struct sockaddr *)&address, &length) != 0) {
        die("listening");
    }
    *port = ntohs(address.sin_port);
    return listener;
}

static int connect_to(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    int peer = socket(AF_INET, SOCK_STREAM, 0);
    if (peer < 0 || connect(peer, (struct sockaddr *)&address, sizeof address) != 0) {
        die("connecting");
    }
    return peer;
}

/* Reads one line, or gives up: its length, 0 if none came in time. */
static size_t read_line(int peer, char *line, size_t room, int timeout_ms)
{
    struct pollfd waiting = {.fd = peer, .events = POLLIN};
    if (poll(&waiting, 1, timeout_ms) != 1) {
        return 0;
    }
    ssize_t length = recv(peer, line, room - 1, 0);
    line[length > 0 ? length : 0] = '\0';
    return length > 0 ? (size_t)length : 0;
}

static void write_line(int peer, const char *line)
{
    if (send(peer, line, strlen(line), MSG_NOSIGNAL) < 0) {
        perror("answering");
    }
}

/* The backend: answers, or in an outage takes connections and says nothing. */

static uint16_t backend_port;
static atomic_bool backend_is_down;
static atomic_int backend_calls;

static void *backend(void *listener)
{
    for (;;) {
        int peer = accept(*(int *)listener, NULL, NULL);
        if (peer < 0) {
            return NULL;
        }
        char line[64];
        atomic_fetch_add(&backend_calls, 1);
        if (read_line(peer, line, sizeof line, 1000) > 0 && !atomic_load(&backend_is_down)) {
            write_line(peer, "42\n");
            close(peer);
        }
        /* A connection that is never answered stays open until the process ends. */
    }
}

/* Asks the backend: whether it answered in time. */
static int ask_backend(char *answer, size_t room)
{
    int peer = connect_to(backend_port);
    write_line(peer, "answer?\n");
    int answered = read_line(peer, answer, room, BACKEND_TIMEOUT_MS) > 0;
    close(peer);
    return answered;
}

/* The server. */

/* Serves one request: this is how a call goes through a breaker. */
static void serve(int client)
{
    char request[64];
    char body[32];
    char response[96];
    uint32_t token;
    uint32_t retry_after_ms;

    if (read_line(client, request, sizeof request, 1000) == 0) {
        return;
    }
    if (nanobreaker_allow(&backend_breaker, &token, &retry_after_ms) != NANOBREAKER_OK) {
        snprintf(response, sizeof response, "503 retry after %u ms\n", (unsigned)retry_after_ms);
        write_line(client, response);
        return;
    }
    int answered = ask_backend(body, sizeof body);
    nanobreaker_record(&backend_breaker, token,
                       answered ? NANOBREAKER_OUTCOME_SUCCESS : NANOBREAKER_OUTCOME_SLOW_FAILURE);
    if (answered) {
        snprintf(response, sizeof response, "200 %s", body);
    } else {
        snprintf(response, sizeof response, "504 the backend did not answer\n");
    }
    write_line(client, response);
}

static void *worker(void *listener)
{
    for (;;) {
        int client = accept(*(int *)listener, NULL, NULL);
        if (client < 0) {
            return NULL;
        }
        serve(client);
        close(client);
    }
}

/* The clients. */

static int status_of_one_request(uint16_t server_port)
{
    char response[96];
    int peer = connect_to(server_port);
    write_line(peer, "hello\n");
    size_t length = read_line(peer, response, sizeof response, 5000);
    close(peer);
    return length > 0 ? atoi(response) : 0;
}

/* Makes requests one after another and counts how they were answered. */
static void requests(uint16_t port, int count, int *ok, int *unavailable, int *timeouts)
{
    *ok = *unavailable = *timeouts = 0;
    for (int i = 0; i < count; i++) {
        int status = status_of_one_request(port);
        *ok += status == 200;
        *unavailable += status == 503;
        *timeouts += status == 504;
    }
    printf("  %d answered, %d rejected at once, %d timed out\n", *ok, *unavailable, *timeouts);
}

int main(void)
{
    uint16_t server_port;
    pthread_t thread;
    int ok, unavailable, timeouts;
    int holds = 1;
    int backend_listener = listen_anywhere(&backend_port);
    int server_listener = listen_anywhere(&server_port);

    guard_the_backend();
    for (int i = 0; i <= WORKERS; i++) {
        int failed = i == 0 ? pthread_create(&thread, NULL, backend, &backend_listener)
                            : pthread_create(&thread, NULL, worker, &server_listener);
        if (failed) {
            die("starting a thread");
        }
        pthread_detach(thread);
    }

    printf("the backend is well:\n");
    requests(server_port, 50, &ok, &unavailable, &timeouts);
    holds &= ok == 50;

    printf("the backend hangs:\n");
    atomic_store(&backend_is_down, 1);
    int calls_before = atomic_load(&backend_calls);
    uint64_t began = monotonic_ms(NULL);
    requests(server_port, 200, &ok, &unavailable, &timeouts);
    int probes = atomic_load(&backend_calls) - calls_before;
    uint64_t took = monotonic_ms(NULL) - began;
    printf("  the backend was called %d times, it took %llu ms instead of %d\n", probes, (unsigned long long)took,
           200 * BACKEND_TIMEOUT_MS);
    holds &= ok == 0 && timeouts >= 3 && timeouts == probes && unavailable == 200 - timeouts && unavailable > 100;

    printf("the backend is well again:\n");
    atomic_store(&backend_is_down, 0);
    began = monotonic_ms(NULL);
    while (nanobreaker_phase(&backend_breaker) != NANOBREAKER_PHASE_CLOSED &&
           monotonic_ms(NULL) - began < 10000) {
        nanobreaker_snapshot_t snapshot;
        nanobreaker_snapshot(&backend_breaker, &snapshot);
        if (snapshot.time_left_ms != NANOBREAKER_NEVER) {
            struct timespec pause = {.tv_nsec = (long)(snapshot.time_left_ms % 1000) * 1000000};
            nanosleep(&pause, NULL);
        }
        status_of_one_request(server_port);
    }
    requests(server_port, 50, &ok, &unavailable, &timeouts);
    holds &= ok == 50;

    printf(holds ? "holds\n" : "BROKEN\n");
    return holds ? 0 : 1;
}
