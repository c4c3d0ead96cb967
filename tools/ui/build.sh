#!/usr/bin/env bash
# Bundle the page's libraries into graphctx/ui/static/vendor, with their licences and checksums. Needs Node 20 and npm.
# The page itself has no build step; run this only after a version in package.json changes.
set -euo pipefail
cd "$(dirname "$0")"
out=../../graphctx/ui/static/vendor
npm ci --silent
mkdir -p "$out"
for name in preact graph map; do
    npx esbuild "$name.js" --bundle --format=esm --minify --target=es2022 --legal-comments=none --outfile="$out/$name.js"
done
for package in preact htm graphology graphology-utils sigma events \
    d3-color d3-dispatch d3-drag d3-ease d3-hierarchy d3-interpolate d3-selection d3-timer d3-transition d3-zoom; do
    licence=$(find "node_modules/$package" -maxdepth 1 -iname 'licen[sc]e*' | head -1)
    version=$(node -p "require('./node_modules/$package/package.json').version")
    printf '%s %s (%s)\n\n' "$package" "$version" "$(node -p "require('./node_modules/$package/package.json').license")"
    if [[ -n $licence ]]; then cat "$licence"; fi
    printf '\n----\n\n'
done > "$out/LICENSES.txt"
(cd "$out" && sha256sum ./*.js > SHA256SUMS)
