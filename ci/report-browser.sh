#!/usr/bin/env bash
# The report in a real browser: every chart is found, with its words; no error on the console, nothing asked of the network;
# in light and in dark, on a wide screen and on a phone, where nothing scrolls sideways. A broken page must be rejected.
# Needs node and Chromium (CHROMIUM=…, or the package chromium); fetches playwright-core from npm. Without them it fails.
#
#   ci/report-browser.sh [RUN…]      by default the newest run of notes/results
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [ -z "$chromium" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium >/dev/null
    chromium=$(command -v chromium || true)
fi
[ -n "$chromium" ] || { echo "report-browser: NOT RUN, there is no Chromium" >&2; exit 1; }
command -v node >/dev/null || { echo "report-browser: NOT RUN, there is no node" >&2; exit 1; }
cp "$root"/ci/report/*.mjs "$root/ci/report/package.json" "$work"
(cd "$work" && npm install --silent --no-audit --no-fund --no-package-lock >/dev/null)

runs=("$@")
[ ${#runs[@]} -gt 0 ] || runs=("$(ls notes/results/20*-ranking-*.json | sort | tail -n 1)")
if [ -n "${SLOTWORK:-}" ]; then
    "$SLOTWORK" report "${runs[@]}" -o "$work/report"
else
    cargo run --quiet --locked -p slotwork-bench --bin slotwork -- report "${runs[@]}" -o "$work/report"
fi
node "$work/look.mjs" "$chromium" "$work/report/report.html" "${SCREENSHOTS:-}"
echo "report-browser: the report is sound"

# Each plant breaks one thing; the look must fail, and say that thing.
page=$work/report/report.html
plant() {
    local name=$1 edit=$2 words=$3 output
    sed -e "$edit" "$page" >"$work/planted.html"
    if cmp -s "$page" "$work/planted.html"; then
        echo "report-browser: the plant $name changes nothing" >&2
        exit 1
    fi
    if output=$(node "$work/look.mjs" "$chromium" "$work/planted.html" 2>&1); then
        echo "report-browser: FAILED, the plant $name was not rejected" >&2
        exit 1
    fi
    grep -q "$words" <<<"$output" || { echo "$output" >&2; echo "report-browser: the plant $name failed, but not with '$words'" >&2; exit 1; }
    echo "plant rejected: $name"
}
plant "a script that throws" 's|</main>|<script>throw new Error("planted")</script></main>|' 'console\|page error'
plant "a picture from the network" 's|</main>|<img src="http://127.0.0.1:9/x.png" alt="x"/></main>|' 'network'
plant "a chart without its words" 's|<desc [^>]*>[^<]*</desc>||' 'description'
plant "a chart of no size" 's|\.chart { display: block; width: 100%|.chart { display: block; width: 0|' 'has no size'
plant "a table that pushes the page aside" 's|\.wide { overflow-x: auto|.wide { overflow-x: visible|' 'scrolls sideways'
plant "no dark scheme" 's|@media (prefers-color-scheme: dark)|@media (min-width: 99999px)|' 'dark'
plant "letters in the colour of the paper" 's|--ink: #1b1b1b|--ink: #fefefe|' 'contrast'
