#!/usr/bin/env bash
# Counts what a delivery costs in instructions, and the bytes of what stays, in a package that depends on this one, as users
# compile it, and compares with the limits beside this file. Counts do not depend on the machine's load, so a limit that is passed is a change of the code.
# usage: Tests/Tools/Cost/instructions.sh [--update] [WORD…]     --update writes what is measured, plus a tenth, as the new limits;
#   WORDS: only cases whose names begin with one of them
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
# Of this package only what the client uses.
FORWARDCAST_ONLY="Forwardcast ForwardcastRecording" swift build "${flags[@]}" >&2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Without what is for debuggers: valgrind gives up on debug information that is newer than itself.
# One hash seed for all runs, so that none meets other collisions than the last.
export SWIFT_DETERMINISTIC_HASHING=1
program=$scratch/cost-client
cp "$(FORWARDCAST_ONLY="Forwardcast ForwardcastRecording" swift build "${flags[@]}" --show-bin-path)/cost-client" "$program"
strip --strip-debug "$program"

# Instructions of a whole run of CASE with MESSAGES to TARGETS.
run() {
  valgrind --tool=callgrind --callgrind-out-file="$scratch/out" "$program" "$@" 2>"$scratch/log" >&2 ||
    { tail -5 "$scratch/log" >&2; return 1; }
  awk '/^(summary|totals):/ { print $2; found = 1; exit } END { exit !found }' "$scratch/out"
}

# Instructions of one message of CASE to TARGETS, of MESSAGES (1000): the difference of two runs, so that starting and
# registering fall out, and what only the first messages do.
message() {
  local few many count=${3:-1000}
  few=$(run "$1" $((count / 5)) "$2") || return 1
  many=$(run "$1" $((count / 5 + count)) "$2") || return 1
  [ "$many" -gt "$few" ] || { echo "$1: $count messages more cost nothing" >&2; return 1; }
  echo $(((many - few) / count))
}

# Bytes that one of CASE keeps, the allocator's own not counted: the difference of two runs.
bytes() {
  local few many
  few=$(kept "$1" 200) && many=$(kept "$1" 1200) || return 1
  echo $(((many - few) / 1000))
}
kept() {
  valgrind --tool=dhat --dhat-out-file=/dev/null "$program" "$1" "$2" 1 2>&1 >/dev/null |
    awk '$2 " " $3 == "At t-end:" { gsub(",", "", $4); print $4; found = 1 } END { exit !found }'
}

# Whether CASE is asked for.
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
  # Ten times the targets, and half a tenth for nothing at all.
  compare "$case.growth" "$(awk -v big="$thousand" -v small="$hundred" 'BEGIN { printf "%.2f", big / small }')" 10.5
done
# A direct delivery among a hundred, in a message that also meets something else.
for thing in hook around stream trace steps nested queued repeated; do
  for form in typed collect boxed report; do
    wanted "$thing:$form" || continue
    hundred=$(message "$thing:$form" 100 50)
    note "$thing:$form.delivery" "$(awk -v all="$hundred" 'BEGIN { printf "%.1f", all / 100 }')" 1
  done
done
# The first message after a change, with nobody else and with ten; a proxy that is made for one target and one message.
for targets in 0 10; do
  wanted visit && note "visit-$targets.call" "$(message visit "$targets")" 0
done
wanted born && note born.call "$(message born 1)" 0
# A message that nobody gets but a stream.
wanted listen && note listen.call "$(message stream:typed 0)" 0
# The first message of a name that nobody has a row for.
wanted first && note first.call "$(message first 1)" 0
# What proxies, registrations and rows keep.
for thing in proxy sender target closure queued row; do
  wanted "kept-$thing" && note "kept-$thing.bytes" "$(bytes "kept-$thing")" 0
done
# The question who responds, and a target that comes and goes, must not depend on how many targets there are.
for case in responds responds-somebody come-and-go; do
  wanted "$case" || continue
  few=$(message "$case" 10)
  many=$(message "$case" 1000)
  note "$case.call" "$many" 0
  compare "$case.growth" "$(awk -v a="$many" -v b="$few" 'BEGIN { printf "%.2f", a / b }')" 1.05
done
# A pinned burst of one message: a route is made for it, so much a target.
wanted pin && note pin.target "$(message pin 100 | awk '{ printf "%.1f", $1 / 100 }')" 1
# A message of a stream to another context, sender and receiver: to one target and to ten.
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
