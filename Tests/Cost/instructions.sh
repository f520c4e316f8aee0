#!/usr/bin/env bash
# Counts what a delivery costs in instructions, and compares with the limits beside this file.
# Counts do not depend on the machine's load, so a limit that is passed is a change of the code.
# usage: Tests/Cost/instructions.sh [--update]     --update writes what is measured, plus a tenth, as the new limits
# FORWARDCAST_BUILD_FLAGS: how the package has been built for release, so that it is not built again; by default -c release.
set -euo pipefail
cd "$(dirname "$0")/../.."
limits=Tests/Cost/instructions.limits

if ! command -v valgrind >/dev/null; then
  echo "skipped: valgrind is not here, so instructions cannot be counted"
  exit 0
fi
read -ra flags <<<"${FORWARDCAST_BUILD_FLAGS:-}"
[ ${#flags[@]} -gt 0 ] || flags=(-c release)
swift build "${flags[@]}" --product forwardcast-benchmarks >&2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Without what is for debuggers: valgrind gives up on debug information that is newer than itself.
# One hash seed for all runs, so that none meets other collisions than the last.
export SWIFT_DETERMINISTIC_HASHING=1
program=$scratch/forwardcast-benchmarks
cp "$(swift build "${flags[@]}" --show-bin-path)/forwardcast-benchmarks" "$program"
strip --strip-debug "$program"

# Instructions of a whole run of CASE with MESSAGES to TARGETS.
run() {
  valgrind --tool=callgrind --callgrind-out-file="$scratch/out" "$program" --count "$@" 2>"$scratch/log" >&2 ||
    { tail -5 "$scratch/log" >&2; return 1; }
  awk '/^(summary|totals):/ { print $2; found = 1; exit } END { exit !found }' "$scratch/out"
}

# Instructions of one message of CASE to TARGETS: the difference of two runs, so that starting and registering
# fall out, and what only the first messages do.
message() {
  local few many
  few=$(run "$1" 200 "$2") || return 1
  many=$(run "$1" 1200 "$2") || return 1
  [ "$many" -gt "$few" ] || { echo "$1: 1200 messages cost no more than 200" >&2; return 1; }
  echo $(((many - few) / 1000))
}

failed=0
compare() { # NAME MEASURED LIMIT
  if awk -v found="$2" -v limit="$3" 'BEGIN { exit !(found > limit) }'; then
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
for case in typed attribute attribute-answer typed-heap collect strong pinned boxed report; do
  one=$(message "$case" 1)
  hundred=$(message "$case" 100)
  thousand=$(message "$case" 1000)
  delivery=$(awk -v all="$hundred" 'BEGIN { printf "%.1f", all / 100 }')
  growth=$(awk -v big="$thousand" -v small="$hundred" 'BEGIN { printf "%.2f", big / small }')
  compare "$case.message-to-one" "$one" "${limit[$case.message-to-one]:-0}"
  compare "$case.delivery" "$delivery" "${limit[$case.delivery]:-0}"
  # Ten times the targets, and half a tenth for nothing at all.
  compare "$case.growth" "$growth" 10.5
  new+=("$case.message-to-one $(awk -v v="$one" 'BEGIN { printf "%d", v * 1.1 + 1 }')")
  new+=("$case.delivery $(awk -v v="$delivery" 'BEGIN { printf "%.1f", v * 1.1 }')")
done
# The question who responds, and a target that comes and goes, must not depend on how many targets there are.
for case in responds responds-somebody come-and-go; do
  few=$(message "$case" 10)
  many=$(message "$case" 1000)
  compare "$case.call" "$many" "${limit[$case.call]:-0}"
  compare "$case.growth" "$(awk -v a="$many" -v b="$few" 'BEGIN { printf "%.2f", a / b }')" 1.05
  new+=("$case.call $(awk -v v="$many" 'BEGIN { printf "%d", v * 1.1 + 1 }')")
done
# A pinned burst of one message: a route is made for it, so much a target.
hundred=$(message pin 100)
target=$(awk -v all="$hundred" 'BEGIN { printf "%.1f", all / 100 }')
compare pin.target "$target" "${limit[pin.target]:-0}"
new+=("pin.target $(awk -v v="$target" 'BEGIN { printf "%.1f", v * 1.1 }')")
# A message of a stream to another context, sender and receiver: to one target and to ten.
few=$(message stream 1)
many=$(message stream 10)
delivery=$(awk -v all="$many" 'BEGIN { printf "%.1f", all / 10 }')
compare stream.message-to-one "$few" "${limit[stream.message-to-one]:-0}"
compare stream.delivery "$delivery" "${limit[stream.delivery]:-0}"
new+=("stream.message-to-one $(awk -v v="$few" 'BEGIN { printf "%d", v * 1.1 + 1 }')")
new+=("stream.delivery $(awk -v v="$delivery" 'BEGIN { printf "%.1f", v * 1.1 }')")

if [ "${1:-}" = --update ]; then
  {
    echo "# Instructions at most: of one message to one target, of one delivery among a hundred, of one question or change."
    echo "# Written by instructions.sh --update; the growth limits stand in the script, since they never move."
    printf '%s\n' "${new[@]}"
  } >"$limits"
  echo "new limits are in $limits"
  exit 0
fi
if [ "$failed" -ne 0 ]; then
  echo "something costs more instructions than it may"
  exit 1
fi
