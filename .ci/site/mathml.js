// [[LaTeX, displayed], ...] from stdin to [MathML, ...] on stdout; the folder with temml.cjs is the argument
const temml = require(require('path').resolve(process.argv[2], 'temml.cjs'))
const wanted = JSON.parse(require('fs').readFileSync(0, 'utf8'))
const made = wanted.map(([tex, displayMode]) => {
  try { return temml.renderToString(tex, {displayMode, throwOnError: true, annotate: false, wrap: 'tex'}) }
  catch (e) { throw new Error(`${tex}\n${e.message}`) }
})
process.stdout.write(JSON.stringify(made))
