#!/usr/bin/env bash
# Measures a client with one attribute beside a handwritten equivalent: bytes of the stripped program by section, processor seconds
# of a clean build, and built modules. Compares with size.limits. Processor seconds depend on the machine, so their limits are wide.
# usage: Tests/Tools/Cost/size.sh [--update]
#   --update   writes the measurements as the new limits: bytes plus 2 %, seconds plus 50 %
set -euo pipefail
cd "$(dirname "$0")/../../.."
root=$PWD
limits=$root/Tests/Tools/Cost/size.limits
scratch=$root/.build/size
rm -rf "$scratch"
mkdir -p "$scratch"/{client,twin}/Sources/{client,twin}
rmdir "$scratch/client/Sources/twin" "$scratch/twin/Sources/client"

package() { # NAME DEPENDENCIES TARGET-DEPENDENCIES
  cat >"$scratch/$1/Package.swift" <<MANIFEST
// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "$1", platforms: [.macOS(.v15)], dependencies: [$2],
  targets: [.executableTarget(name: "$1", dependencies: [$3])])
MANIFEST
}
package client ".package(name: \"Forwardcast\", path: \"$root\")" \
  '.product(name: "Forwardcast", package: "Forwardcast")'
package twin "" ""

# One program in two forms: a delegate call to two screens, and the sum of their answers.
screens='
final class Screen: ThemesDelegate {
  var color = "grey"
  func themesColorChanged(_ color: String) { self.color = color }
  func unread() -> Int { 2 }
}

let (home, settings) = (Screen(), Screen())
themes.add(home)
themes.add(settings)
themes.themesColorChanged("plum")
print(home.color, settings.color, themes.unread())'
cat >"$scratch/client/Sources/client/main.swift" <<CLIENT
import Forwardcast

@Forwarded
protocol ThemesDelegate: AnyObject {
  func themesColorChanged(_ color: String)
  @Answer(.sum) func unread() -> Int
}

let themes = ThemesDelegateProxy()
$screens
CLIENT
cat >"$scratch/twin/Sources/twin/main.swift" <<TWIN
protocol ThemesDelegate: AnyObject {
  func themesColorChanged(_ color: String)
  func unread() -> Int
}

final class Themes: ThemesDelegate {
  private struct Weak { weak var target: (any ThemesDelegate)? }
  private var targets: [Weak] = []
  func add(_ target: any ThemesDelegate) { targets.append(Weak(target: target)) }
  func themesColorChanged(_ color: String) { for weak in targets { weak.target?.themesColorChanged(color) } }
  func unread() -> Int { targets.reduce(0) { \$0 + (\$1.target?.unread() ?? 0) } }
}

let themes = Themes()
$screens
TWIN

# The compiler flags that the guide recommends for a root package.
small=(-Xswiftc -Osize)
for flag in -function-sections -internalize-at-link; do small+=(-Xswiftc -Xfrontend -Xswiftc "$flag"); done
# The linker flags: compact relocations (glibc 2.36 or later) and merged identical functions.
packed=("${small[@]}" -Xswiftc -use-ld=lld -Xlinker -z -Xlinker pack-relative-relocs -Xlinker --icf=all)

declare -A found
# build NAME PACKAGE FLAGS…: a clean build; records its processor seconds and the bytes of a release build.
build() {
  local name=$1 package=$2 program TIMEFORMAT='%U %S'
  shift 2
  { time swift build --package-path "$scratch/$package" --scratch-path "$scratch/$name" "$@" >"$scratch/$name.log" 2>&1; } \
    2>"$scratch/$name.time" || { tail -20 "$scratch/$name.log" >&2; return 1; }
  found[$name.processor-seconds]=$(awk '{ printf "%d", $1 + $2 + 0.5 }' "$scratch/$name.time")
  program="$(swift build --package-path "$scratch/$package" --scratch-path "$scratch/$name" "$@" --show-bin-path)/$package"
  [ "$("$program")" = "plum plum 4" ] || { echo "$name does not print what it should" >&2; return 1; }
  case " $* " in
    *" release "*) ;;
    *) return 0 ;;
  esac
  strip "$program"
  found[$name.bytes]=$(wc -c <"$program")
  printf '\n%s, bytes by section of more than a kilobyte:\n' "$name"
  size -A "$program" | awk '$2 + 0 > 1024 && $1 != "Total" && NF == 3 { printf "  %-24s %10d\n", $1, $2 }' | sort -k2 -rn
}

build twin twin -c release
build client-debug client
build client client -c release
build client-small client -c release "${small[@]}"
build client-packed client -c release "${packed[@]}"
printf '\nbuilt for the client:'
find "$scratch/client-debug" -name '*.swiftmodule' -not -path '*/ModuleCache/*' -printf '%f\n' | sed 's/\.swiftmodule$//' | sort -u |
  while read -r module; do printf ' %s' "$module"; done
printf '\n\n'

declare -A limit
if [ -e "$limits" ]; then
  while read -r name value; do
    case "$name" in '' | '#'*) continue ;; esac
    limit[$name]=$value
  done <"$limits"
fi
failed=0
for name in $(printf '%s\n' "${!found[@]}" | sort); do
  most=${limit[$name]:-}
  if [ -n "$most" ] && [ "${found[$name]}" -gt "$most" ]; then
    printf '%-36s %10s   more than %s\n' "$name" "${found[$name]}" "$most"
    failed=1
  else
    printf '%-36s %10s   %s\n' "$name" "${found[$name]}" "${most:+at most $most}"
  fi
done

if [ "${1:-}" = --update ]; then
  {
    echo "# Bytes of the stripped programs and processor seconds of their clean builds, at most. Written by size.sh --update."
    for name in $(printf '%s\n' "${!found[@]}" | sort); do
      case $name in
        *.bytes) echo "$name $((found[$name] * 51 / 50))" ;;
        client*) echo "$name $((found[$name] * 3 / 2))" ;;
      esac
    done
  } >"$limits"
  echo "new limits are in $limits"
  exit 0
fi
if [ "$failed" -ne 0 ]; then
  echo "a client of one attribute costs more than it may"
  exit 1
fi
