#!/usr/bin/env bash
# Counts the instructions of a delivery and the bytes of live objects in a client package, and compares them with the limits in
# instructions.limits. Counts do not depend on the load of the machine, so an exceeded limit is a change of the code.
# usage: Tests/Tools/Cost/instructions.sh [--update] [WORD…]
#   --update   writes the counts plus 10 % as the new limits
#   WORD       runs only cases whose names begin with one of the words
set -euo pipefail
cd "$(dirname "$0")/../../.."
limits=Tests/Tools/Cost/instructions.limits

if ! command -v valgrind >/dev/null; then
  echo "skipped: valgrind is not here, so instructions cannot be counted"
  exit 0
fi
update=0
if [ "${1:-}" = --update ]; then
  update=1
  shift
fi
words=("$@")
flags=(--package-path Tests/Tools/Cost/Client --scratch-path .build/cost -c release)
# Builds only the products that the client uses.
FORWARDCAST_ONLY="Forwardcast ForwardcastRecording" swift build "${flags[@]}" >&2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Without debug information, which may be newer than valgrind reads.
# One hash seed, so that all runs have the same hash collisions.
export SWIFT_DETERMINISTIC_HASHING=1
program=$scratch/cost-client
cp "$(FORWARDCAST_ONLY="Forwardcast ForwardcastRecording" swift build "${flags[@]}" --show-bin-path)/cost-client" "$program"
strip --strip-debug "$program"

# The instructions of a run of CASE with MESSAGES to TARGETS.
run() {
  valgrind --tool=callgrind --callgrind-out-file="$scratch/out" "$program" "$@" 2>"$scratch/log" >&2 ||
    { tail -5 "$scratch/log" >&2; return 1; }
  awk '/^(summary|totals):/ { print $2; found = 1; exit } END { exit !found }' "$scratch/out"
}

# The instructions of one message of CASE to TARGETS, from MESSAGES (1000): the difference of two runs, which excludes start-up,
# registration and the first messages.
message() {
  local few many count=${3:-1000}
  few=$(run "$1" $((count / 5)) "$2") || return 1
  many=$(run "$1" $((count / 5 + count)) "$2") || return 1
  [ "$many" -gt "$few" ] || { echo "$1: $count messages more cost nothing" >&2; return 1; }
  echo $(((many - few) / count))
}

# The bytes that one object of CASE retains, without the allocator's overhead: the difference of two runs.
bytes() {
  local few many
  few=$(kept "$1" 200) && many=$(kept "$1" 1200) || return 1
  echo $(((many - few) / 1000))
}
kept() {
  valgrind --tool=dhat --dhat-out-file=/dev/null "$program" "$1" "$2" 1 2>&1 >/dev/null |
    awk '$2 " " $3 == "At t-end:" { gsub(",", "", $4); print $4; found = 1 } END { exit !found }'
}

# Whether CASE is selected.
wanted() {
  local word
  [ ${#words[@]} -gt 0 ] || return 0
  for word in "${words[@]}"; do [[ $1 != "$word"* ]] || return 0; done
  return 1
}

failed=0
compare() { # NAME MEASURED LIMIT
  if [ "$update" -eq 0 ] && awk -v found="$2" -v limit="$3" 'BEGIN { exit !(found > limit) }'; then
    printf '%-28s %10s   more than %s\n' "$1" "$2" "$3"
    failed=1
  else
    printf '%-28s %10s   at most %s\n' "$1" "$2" "$3"
  fi
}

declare -A limit
while read -r name value; do
  case "$name" in '' | '#'*) continue ;; esac
  limit[$name]=$value
done <"$limits"

new=()
note() { # NAME MEASURED DIGITS: a limit, a tenth above
  compare "$1" "$2" "${limit[$1]:-0}"
  limit[$1]=$(awk -v v="$2" -v digits="$3" 'BEGIN { printf "%." digits "f", v * 1.1 + (digits ? 0 : 0.5) }')
  new+=("$1")
}
for case in typed attribute attribute-answer typed-heap collect strong pinned boxed report; do
  wanted "$case" || continue
  one=$(message "$case" 1)
  hundred=$(message "$case" 100)
  thousand=$(message "$case" 1000)
  note "$case.message-to-one" "$one" 0
  note "$case.delivery" "$(awk -v all="$hundred" 'BEGIN { printf "%.1f", all / 100 }')" 1
  # Ten times the targets, plus 5 %.
  compare "$case.growth" "$(awk -v big="$thousand" -v small="$hundred" 'BEGIN { printf "%.2f", big / small }')" 10.5
done
# A delivery on the context that its sender is on costs two direct ones at most.
here() { # CASE DIRECT
  local targets
  for targets in 1 10; do
    compare "$1.ratio-$targets" "$(awk -v a="$(message "$1" "$targets")" -v b="$(message "$2" "$targets")" \
      'BEGIN { printf "%.2f", a / b }')" 2
  done
}
wanted here && { here here closure && here here-answer collect && here here-queue typed; }
# A direct delivery among a hundred, in a message that also has a hook, a stream, a nested proxy or a queued target.
for thing in hook around stream trace steps nested queued repeated; do
  for form in typed collect boxed report; do
    wanted "$thing:$form" || continue
    hundred=$(message "$thing:$form" 100 50)
    note "$thing:$form.delivery" "$(awk -v all="$hundred" 'BEGIN { printf "%.1f", all / 100 }')" 1
  done
done
# The first message after a change, alone and among ten targets; a new proxy with one target and one message.
for targets in 0 10; do
  wanted visit && note "visit-$targets.call" "$(message visit "$targets")" 0
done
# Something that comes and goes again among a thousand targets, beside the message alone; to reach are 1.3 times.
if wanted churn; then
  alone=$(message typed 1000)
  for thing in target closure hook; do
    with=$(message "churn-$thing" 1000)
    note "churn-$thing.ratio" "$(awk -v a="$with" -v b="$alone" 'BEGIN { printf "%.2f", a / b }')" 2
  done
fi
wanted born && note born.call "$(message born 1)" 0
# A message that only a stream receives.
wanted listen && note listen.call "$(message stream:typed 0)" 0
# The first message of a selector without a row.
wanted first && note first.call "$(message first 1)" 0
# The memory of proxies, registrations and rows.
for thing in proxy sender target closure queued row; do
  wanted "kept-$thing" && note "kept-$thing.bytes" "$(bytes "kept-$thing")" 0
done
# responds(to:), and adding and removing a target, must not depend on the number of targets.
for case in responds responds-somebody come-and-go; do
  wanted "$case" || continue
  few=$(message "$case" 10)
  many=$(message "$case" 1000)
  note "$case.call" "$many" 0
  compare "$case.growth" "$(awk -v a="$many" -v b="$few" 'BEGIN { printf "%.2f", a / b }')" 1.05
done
# A pinned burst of one message, which builds a route for each target.
wanted pin && note pin.target "$(message pin 100 | awk '{ printf "%.1f", $1 / 100 }')" 1
# A message of a stream to another context, with sender and receiver: one target and ten.
if wanted stream; then
  note stream.message-to-one "$(message stream 1)" 0
  note stream.delivery "$(message stream 10 | awk '{ printf "%.1f", $1 / 10 }')" 1
fi
# A message that wakes its target's queue.
wanted lone && note lone.message "$(message lone 1)" 0

if [ "$update" -eq 1 ]; then
  kept=("${!limit[@]}")
  [ ${#words[@]} -gt 0 ] || kept=("${new[@]}")
  {
    sed -n '/^#/p' "$limits"
    for name in "${kept[@]}"; do printf '%s %s\n' "$name" "${limit[$name]}"; done | sort
  } >"$scratch/limits"
  cp "$scratch/limits" "$limits"
  echo "new limits are in $limits"
  exit 0
fi
if [ "$failed" -ne 0 ]; then
  echo "something costs more instructions than it may"
  exit 1
fi
