#!/usr/bin/env bash
# Fuzzes every target, two at a time:   tests/fuzz/run.sh [SECONDS [TARGET...]]
# New inputs gather in build/fuzz/corpus. A finding is written to build/fuzz/findings; copy it to
# tests/fuzz/crashers/<target>/ once it is understood: from then on every build replays it.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
seconds=${1:-60}
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then targets=(yaml cel schema template validate foreign generated exchange log table); fi
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi

cmake --preset asan "${launcher[@]}" >/dev/null &&
  cmake --build --preset asan --target "${targets[@]/#/fuzz_}" || exit 1

fuzz() {
  local target=$1 build=build/asan/tests/fuzz status
  local corpus=build/fuzz/corpus/$target findings=build/fuzz/findings/$target
  local inputs=("$corpus") options=() known
  mkdir -p "$corpus" "$findings"
  for known in "tests/fuzz/seeds/$target" "tests/fuzz/crashers/$target"; do
    if [ -d "$known" ]; then inputs+=("$known"); fi
  done
  if [ "$target" = validate ]; then inputs+=(blueprints); fi
  if [ "$target" = foreign ]; then inputs+=(tests/golden/import); fi
  if [ -f "tests/fuzz/$target.dict" ]; then options+=("-dict=tests/fuzz/$target.dict"); fi
  "$build/fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -max_len=20000 \
    -print_final_stats=1 -artifact_prefix="$findings/" "${options[@]}" "${inputs[@]}" \
    >"build/fuzz/$target.log" 2>&1
  status=$?
  if [ "$status" -eq 0 ]; then
    printf '%-10s %9d runs, no finding\n' "$target" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/$target.log")"
  else
    printf '%-10s FINDING, see build/fuzz/%s.log and %s\n' "$target" "$target" "$findings"
    tail -n 60 "build/fuzz/$target.log"
  fi
  return "$status"
}

passed=0
failed=0
pids=()
settle() {
  if wait "${pids[0]}"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  pids=("${pids[@]:1}")
}
for target in "${targets[@]}"; do
  if [ ${#pids[@]} -ge "$(nproc)" ]; then settle; fi
  fuzz "$target" &
  pids+=($!)
done
while [ ${#pids[@]} -gt 0 ]; do settle; done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
