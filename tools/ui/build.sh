#!/usr/bin/env bash
# Bundle the page's libraries into graphctx/ui/static/vendor, with their licences and checksums. Needs Node 20 and npm.
# The page itself has no build step; run this only after a version in package.json changes.
set -euo pipefail
cd "$(dirname "$0")"
out=../../graphctx/ui/static/vendor
npm ci --silent
mkdir -p "$out"
# Exported pages hold map.js, and so its licences.
d3="D3: d3-color, d3-dispatch, d3-drag, d3-hierarchy, d3-interpolate, d3-selection, d3-timer, d3-transition, d3-zoom"
printf '/*!\n%s\n\n%s\n\nd3-ease\n\n%s\n*/\n' "$d3" "$(cat node_modules/d3-zoom/LICENSE)" "$(cat node_modules/d3-ease/LICENSE)" > map.licence
for name in preact graph map; do
    banner=$(cat "$name.licence" 2> /dev/null || true)
    npx esbuild "$name.js" --bundle --format=esm --minify --target=es2022 --legal-comments=none --banner:js="$banner" \
        --outfile="$out/$name.js"
done
rm map.licence
for package in preact htm graphology graphology-utils sigma events \
    d3-color d3-dispatch d3-drag d3-ease d3-hierarchy d3-interpolate d3-selection d3-timer d3-transition d3-zoom; do
    licence=$(find "node_modules/$package" -maxdepth 1 -iname 'licen[sc]e*' | head -1)
    version=$(node -p "require('./node_modules/$package/package.json').version")
    printf '%s %s (%s)\n\n' "$package" "$version" "$(node -p "require('./node_modules/$package/package.json').license")"
    if [[ -n $licence ]]; then cat "$licence"; fi
    printf '\n----\n\n'
done > "$out/LICENSES.txt"
(cd "$out" && sha256sum ./*.js > SHA256SUMS)
