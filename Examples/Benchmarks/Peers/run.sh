#!/usr/bin/env bash
# Prints one table of the cost of the same messages in other systems and in Forwardcast. Names missing systems.
# usage: Examples/Benchmarks/Peers/run.sh
# Debian's packages for it: gobjc libgnustep-base-dev gnustep-make, openjdk-17-jdk-headless,
# nodejs. The script installs nothing.
set -euo pipefail
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
figures=$scratch/figures

missing() { echo "left out: $1 needs $2 (Debian: $3)" >&2; }
sizes="1 10 100 1000"

if ! command -v gnustep-config >/dev/null || ! echo '@interface A @end' | gcc -fsyntax-only -x objective-c - 2>/dev/null
then
  missing GNUstep "gcc for Objective-C and gnustep-config" "gobjc libgnustep-base-dev gnustep-make"
else
  echo "GNUstep" >&2
  # The shell splits the flags.
  # shellcheck disable=SC2046
  gcc $(gnustep-config --objc-flags) -std=gnu11 -O2 -o "$scratch/gnustep" gnustep.m $(gnustep-config --base-libs) \
    2>"$scratch/log" || { cat "$scratch/log" >&2; exit 1; }
  "$scratch/gnustep" >>"$figures"
fi

if ! command -v javac >/dev/null; then
  missing Java "a compiler" openjdk-17-jdk-headless
else
  echo "Java" >&2
  javac -d "$scratch" Peer.java
  for n in $sizes; do
    for case in proxy loop responds; do java -XX:+UseSerialGC -cp "$scratch" Peer "$case" "$n" >>"$figures"; done
  done
fi

if ! command -v node >/dev/null; then
  missing Node "node" nodejs
else
  echo "Node" >&2
  for n in $sizes; do
    for case in proxy loop responds; do node peer.mjs "$case" "$n" >>"$figures"; done
  done
fi

if ! command -v swift >/dev/null; then
  missing Forwardcast "a Swift toolchain" "none; see swift.org"
else
  echo "Foundation" >&2
  swiftc -O -swift-version 6 -o "$scratch/observers" observers.swift
  "$scratch/observers" >>"$figures"
  echo "Forwardcast" >&2
  swift build --package-path ../../.. -c release --product forwardcast-benchmarks >&2
  program=$(swift build --package-path ../../.. -c release --show-bin-path)/forwardcast-benchmarks
  for row in typed pinned boxed responds; do
    "$program" --filter "$row " --json "$scratch/json" >/dev/null 2>&1
    # The table has one line for each: the first case of the row, and its counterpart.
    sed -n 's/.*"row": "\([^"]*\)", "case": "\([^"]*\)", "n": \([0-9]*\), "ours": \([0-9.e+-]*\), "reference": \([0-9.e+-]*\),.*/\1|\2|\3|\4|\5/p' \
      "$scratch/json" |
      awk -F'|' '
        $1 == "typed" && $2 == "one Int" { print "Forwardcast,typed," $3 "," $4; print "Swift by hand,loop," $3 "," $5 }
        $1 == "pinned" && $2 == "strong, one Int" { print "Forwardcast,strong," $3 "," $4 }
        $1 == "boxed" && $2 == "one Int" { print "Forwardcast,boxed," $3 "," $4 }
        $1 == "responds" && $2 == "nobody does" {
          print "Forwardcast,responds," $3 "," $4; print "Swift by hand,responds," $3 "," $5
        }' >>"$figures"
  done
fi

[ -s "$figures" ] || { echo "nobody is here to be measured" >&2; exit 1; }
awk -F, '
  { key = $1 " " $2; if (!(key in seen)) { seen[key] = 1; order[++keys] = key }; value[key, $3] = $4 }
  END {
    printf "%-26s %10s %10s %10s %10s\n", "ns per delivery, or call", "N = 1", "10", "100", "1000"
    for (i = 1; i <= keys; i++) {
      printf "%-26s", order[i]
      for (n = 1; n <= 1000; n *= 10)
        if ((order[i], n) in value) printf " %10.1f", value[order[i], n]; else printf " %10s", "-"
      printf "\n"
    }
  }' "$figures"
