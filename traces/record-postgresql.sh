#!/usr/bin/env bash
# Records traces/postgresql-mixed.csv.gz: what PostgreSQL asks of its files while it works.
#
# Needs Linux, strace 5.3 or newer, Python 3.11 and PostgreSQL 15 with pgbench
# (Debian: apt-get install strace postgresql postgresql-contrib).
# PG_BIN names the folder of initdb and postgres where pg_config does not find it.
# As root it goes on as the user `postgres`, because the server refuses root.
#
# Usage: traces/record-postgresql.sh OUT.csv.gz    (about six minutes)
set -euo pipefail

out=$(realpath -m "${1:?usage: record-postgresql.sh OUT.csv.gz}")
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "$(id -u)" = 0 ]; then
    cp "$here"/record-postgresql.sh "$here"/strace_to_csv.py "$work"
    chown -R postgres "$work"
    (cd "$work" && runuser -u postgres -- bash record-postgresql.sh "$work/out.csv.gz")
    cp "$work/out.csv.gz" "$out"
    exit
fi

PG_BIN=${PG_BIN:-$(pg_config --bindir)}
data=$work/data log=$work/server.log
mkdir "$work/calls" "$work/socket"
export PGHOST=$work/socket PGUSER=postgres PGDATABASE=postgres
PATH=$PG_BIN:$PATH

phase() { printf "%4d s  %s\n" $((SECONDS - started)) "$*"; }
oltp() { # SECONDS TRANSACTIONS_PER_SECOND
    pgbench --no-vacuum --time "$1" --rate "$2" --client 4 --random-seed 15 \
        -b tpcb-like@2 -b select-only@3 -f "$work/hot.sql@3" 2>&1 | grep -E 'actually processed|latency average'
}

# Few accounts are hot (Zipf, exponent 1.2).
cat >"$work/hot.sql" <<'SQL'
\set aid random_zipfian(1, 100000 * :scale, 1.2)
\set delta random(-5000, 5000)
BEGIN;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (1, 1, :aid, :delta, now());
END;
SQL

initdb --pgdata "$data" --username postgres --auth trust --wal-segsize 4 >"$work/initdb.log"
cat >>"$data/postgresql.conf" <<CONF
listen_addresses = ''
unix_socket_directories = '$PGHOST'
shared_buffers = 8MB
work_mem = 1MB
maintenance_work_mem = 8MB
max_wal_size = 48MB
min_wal_size = 16MB
checkpoint_timeout = 60s
autovacuum_naptime = 20s
jit = off
max_parallel_workers_per_gather = 0
CONF

calls=open,openat,read,write,pread64,pwrite64,preadv,pwritev,preadv2,pwritev2
calls+=,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,truncate,ftruncate
strace --follow-forks --output-separately --output "$work/calls/pid" --seccomp-bpf \
    --absolute-timestamps=format:unix,precision:us --decode-fds=path --string-limit 0 \
    --trace "$calls" --quiet=attach,exit,thread-execve --signal none \
    postgres -D "$data" >"$log" 2>&1 &
until pg_isready --quiet; do sleep 0.2; done

started=$SECONDS
phase "load: 400,000 accounts, then their primary key"
pgbench --initialize --scale 4 --init-steps dtgp --quiet >>"$log" 2>&1
phase "short transactions, 80 a second"
oltp 90 80
phase "idle"
sleep 20
phase "report: a sort that spills to temporary files"
psql -qAtc "SELECT count(*) FROM (SELECT bid, abalance, aid FROM pgbench_accounts WHERE aid > 150000 ORDER BY abalance, aid DESC) t"
phase "batch: every twentieth of the newer accounts changes, then vacuum"
psql -qc "UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid % 20 = 7 AND aid > 200000"
psql -qc "VACUUM ANALYZE pgbench_accounts"
phase "short transactions, 200 a second"
oltp 60 200
phase "idle"
sleep 15
phase "index of the history, branch report"
psql -qc "CREATE INDEX ON pgbench_history (aid)"
psql -qAtc "SELECT count(*) FROM (SELECT a.bid, count(*), sum(h.delta) FROM pgbench_accounts a JOIN pgbench_history h USING (aid) GROUP BY 1) t"
phase "short transactions, 30 a second"
oltp 90 30
phase "clean-up: old accounts leave, the table is rewritten"
psql -qc "DELETE FROM pgbench_accounts WHERE aid % 8 = 3 AND aid < 100000"
psql -qc "VACUUM FULL pgbench_accounts"
phase "last transactions, then shutdown"
oltp 30 40
pg_ctl --pgdata "$data" stop --mode fast --silent
wait
phase "done"
python3 "$here/strace_to_csv.py" "$data" "$work"/calls/pid.* --out "$out"
