// The planner of the first page: epsilon to rho, standard errors to expect, and their picture.
// The same numbers as dp_pmt.costs.expected_errors, from the same table; nothing leaves the page.
const dpPmt = (() => {
  const LOG_2PI = Math.log(2*Math.PI)

  // Mills ratio Φ(-x)/φ(x), for x ≥ -6
  function mills(x) {
    if (x < 2.5) {
      let term = x, sum = x
      for (let k = 3; Math.abs(term) > 1e-17*Math.abs(sum); k += 2) { term *= x*x/k; sum += term }
      return .5*Math.exp((x*x + LOG_2PI)/2) - sum
    }
    let below = x
    for (let k = 120; k > 0; k--) below = x + k/below
    return 1/below
  }

  // log δ at eps of Gaussian mechanisms that total rho
  function gaussianLogDelta(rho, eps) {
    const mu = Math.sqrt(2*rho), u = (eps - rho)/mu, v = (eps + rho)/mu, logPhi = -(u*u + LOG_2PI)/2
    if (u <= -1) {
      const tail = Math.exp(logPhi)
      return Math.log1p(-tail*(mills(-u) + mills(v)))
    }
    const x = (u + v)/2, drop = mu < 1e-5 ? mu*(1 - x*mills(x)) : mills(u) - mills(v)
    return logPhi + Math.log(Math.max(drop, 5e-324))
  }

  function bisect(f, lo, hi) { // of an increasing f
    for (let i = 0; i < 100; i++) { const mid = (lo + hi)/2; if (f(mid) > 0) hi = mid; else lo = mid }
    return lo
  }

  const epsToRho = (eps, delta) => Math.exp(bisect(s => gaussianLogDelta(Math.exp(s), eps) - Math.log(delta), -40, 12))
  const gaussianEps = (rho, delta) => gaussianLogDelta(rho, 0) <= Math.log(delta) ? 0 :
    bisect(eps => Math.log(delta) - gaussianLogDelta(rho, eps), 0, rho + 2*Math.sqrt(rho*-Math.log(delta)) + 1)

  // Where x stands between the knots: index of the left one, and the share of the right one
  function place(knots, x) {
    let i = 0
    while (i < knots.length - 2 && x >= knots[i + 1]) i++
    return [i, Math.min(Math.max((x - knots[i])/(knots[i + 1] - knots[i]), 0), 1)]
  }

  let table = null
  function look(method, at) {
    const spots = table.axes.map((knots, k) => place(knots, at[k])), sizes = table.axes.map(k => k.length)
    let sum = 0
    for (let corner = 0; corner < 16; corner++) {
      let weight = 1, index = 0
      spots.forEach(([i, w], k) => { const right = corner >> k & 1; weight *= right ? w : 1 - w; index = index*sizes[k] + i + right })
      if (weight) sum += weight*table[method][index]
    }
    return Math.exp(sum)
  }

  // Standard errors to expect, in residual sds over column sds
  function expected(n, nB, d, R2, eps, delta) {
    const rho = epsToRho(eps, delta), s = Math.log(n*Math.sqrt(rho)), per = Math.log(nB/(d + 1))
    const at = [Math.log(d), per, -Math.log1p(-R2), s], [, pers, , ss] = table.axes
    const far = Math.exp(Math.max(0, s - ss.at(-1))), many = Math.exp(Math.max(0, per - pers.at(-1))/2)
    const sampling = 1/Math.sqrt(n), publicly = look('public', at)/many
    const anchored = Math.min(Math.hypot(sampling, table.real*look('anchored', at)/far), Math.hypot(sampling, publicly))
    const released = Math.hypot(sampling, look('release', at)/far)
    return {rho, sampling, public: publicly, anchored, release: released, adds: anchored/sampling - 1}
  }

  // The same with nothing public, or null where so few rows can't be fitted from nothing. What privacy adds is then
  // a fifth more than with six public rows a coefficient, and up to three times as much where rows are few
  function expectedOfNothing(n, d, R2, eps, delta) {
    const e = expected(n, 6*(d + 1), d, R2, eps, delta), each = n*Math.sqrt(e.rho)/(d + 1)
    if (each < 60) return {...e, anchored: null, public: null, release: null, adds: null}
    const few = Math.min(Math.max(Math.log(300/each)/Math.log(3), 0), 1)
    const anchored = Math.hypot(e.sampling, (1.2 + 1.8*few)*Math.sqrt(e.anchored**2 - e.sampling**2))
    return {...e, anchored, public: null, release: null, adds: anchored/e.sampling - 1}
  }

  return {mills, gaussianLogDelta, gaussianEps, epsToRho, expected, expectedOfNothing, use: t => { table = t }}
})()

// The page
;(() => {
  if (typeof document === 'undefined') return
  const $ = id => document.getElementById(id)
  const PATTERN = [.9, -.8, .85, -.5, .7, -.3, .2, .75, -.55, .35, -.7, .15]
  const SHOWN = () => narrow() ? 8 : 12, narrow = () => $('pl-plot').clientWidth < 420
  // One draw of each method's error, in its standard errors: fixed, so that a picture moves only with its numbers
  const DRAW = {none: [.3, -.7, .5, -.2, .9, -.4, .1, -.5, .6, -.1, .4, -.8], anchored: [-.8, .4, .9, -.6, .2, .7, -.5, .3, -.9, .6, -.2, .5],
    release: [.9, .6, -.7, .8, -.9, .3, .5, -.4, .7, -.6, .2, -.8], public: [-.6, .9, -.4, -.9, .7, .5, -.8, .6, -.3, .8, -.7, .4]}
  const NAMES = {none: 'no privacy', anchored: 'private (dp_pmt.fit)', release: 'for others to refit (dp_pmt.release)', public: 'public rows alone'}
  const NS = 'http://www.w3.org/2000/svg'
  let file = null // what a CSV says: {name, y, columns, dialect, nB, d, R2, names, beta, size, edge}
  let kept = null // what stood in the fields before the file

  const percent = x => x < .01 ? 'less than 1 %' : x < 1 ? `${+(100*x).toPrecision(2)} %` : `${+(x + 1).toPrecision(2)} times`
  const count = x => Math.round(x).toLocaleString('en-US')
  const short = x => String(+x.toPrecision(3))
  const times = (x, as) => +x.toPrecision(2) === 1 ? `as ${as} as` : `${+x.toPrecision(2)} times as ${as} as`

  function value(id) {
    const e = $(id), v = Number(e.value)
    if (e.value === '' || !(v >= 0)) return Number(e.defaultValue)
    const clipped = Math.min(Math.max(v, Number(e.min)), Number(e.max))
    return 'int' in e.dataset ? Math.round(clipped) : clipped
  }

  // A field out of range says so beside it, and takes the nearest value when it is left
  function check(field, leave) {
    const wrong = field.value === '' || !(Number(field.value) >= Number(field.min) && Number(field.value) <= Number(field.max))
    const note = $(`${field.id}-note`), said = v => v >= 100 ? count(Number(v)) : short(Number(v))
    if (wrong) note.textContent = `${field.value === '' ? 'A number from' : 'From'} ${field.min} to ${said(field.max)}: ${said(value(field.id))} is taken.`
    else if (!leave) note.textContent = ''
    note.hidden = !note.textContent
    if (wrong && leave) field.value = value(field.id)
  }

  // Regression to show: names, standardised coefficients, and the scale of a standard error of one
  function regression(d, R2) {
    if (file) return {...file, names: file.names.slice(0, SHOWN())}
    const k = Math.min(d, SHOWN()), size = Math.hypot(...PATTERN.slice(0, k))*Math.sqrt(Math.max(d/k, 1))
    return {names: PATTERN.slice(0, k).map((_, j) => `x${j + 1}`), beta: PATTERN.slice(0, k).map(b => b/size*Math.sqrt(R2)), size: Array(k).fill(Math.sqrt(1 - R2)), edge: d < 3 ? 1 : .6}
  }

  function add(parent, tag, attrs, text) {
    const e = document.createElementNS(NS, tag)
    for (const k in attrs) e.setAttribute(k, attrs[k])
    if (text !== undefined) e.textContent = text
    parent.append(e)
    return e
  }

  // Text as wide as it is on the screen, and a height that no slider changes
  function draw(reg, se) {
    const small = narrow(), width = Math.max($('pl-plot').clientWidth, 280), ways = Object.keys(NAMES).filter(m => se[m])
    const letters = small ? 12 : 20, left = Math.min(150, 18 + 6.6*Math.max(...reg.names.map(s => Math.min(s.length, letters))))
    const low = small ? 34 : 40, high = small ? 214 : 400, step = (high - low)/reg.names.length, gap = Math.min(small ? 6 : 9, step/(ways.length + 1))
    const x = v => left + (width - left - 10)*(v + reg.edge)/(2*reg.edge), inside = v => Math.min(Math.max(v, -reg.edge), reg.edge)
    const svg = document.createElementNS(NS, 'svg'); let cut = false
    svg.setAttribute('viewBox', `0 0 ${width} ${high}`); svg.setAttribute('role', 'img')
    svg.setAttribute('aria-label', `Coefficients with 95 % intervals to expect: ${ways.map(m => `${NAMES[m]} plus or minus ${short(1.96*se[m]*reg.size[0])}`).join(', ')}`)
    for (let k = -2; k <= 2; k++) {
      const v = k*reg.edge/2
      add(svg, 'line', {x1: x(v), x2: x(v), y1: 0, y2: high - low, class: k ? 'pl-grid' : 'pl-zero'})
      add(svg, 'text', {x: x(v), y: high - low + 14, 'text-anchor': 'middle', class: 'pl-tick'}, short(v))
    }
    add(svg, 'text', {x: x(0), y: high - 5, 'text-anchor': 'middle', class: 'pl-tick'}, small ? 'sds of the response per sd of the column' : 'change of the response, in its sds, when the column moves by one sd')
    reg.names.forEach((name, j) => {
      const y = step*(j + .5)
      add(svg, 'text', {x: left - 8, y: y + 4, 'text-anchor': 'end', class: 'pl-name'}, name.length > letters ? name.slice(0, letters - 1) + '…' : name)
      ways.forEach((m, k) => {
        const scale = reg.size[j], none = se.none*DRAW.none[j]
        const own = Math.sqrt(Math.max(se[m]**2 - se.none**2, 0))*DRAW[m][j]
        const mid = m === 'public' && file ? reg.beta[j] : reg.beta[j] + scale*(m === 'public' ? se.public*DRAW.public[j] : m === 'none' ? none : none + own)
        const row = y + (k - (ways.length - 1)/2)*gap, lo = mid - 1.96*se[m]*scale, hi = mid + 1.96*se[m]*scale
        add(svg, 'line', {x1: x(inside(lo)), x2: x(inside(hi)), y1: row, y2: row, class: `pl-${m}`, 'stroke-width': Math.min(2.4, gap/2.4)})
        if (lo < -reg.edge || hi > reg.edge) cut = true
        if (Math.abs(mid) < reg.edge) add(svg, 'circle', {cx: x(mid), cy: row, r: small ? 1.7 : 2.3, class: `pl-${m}`})
      })
    })
    $('pl-plot').replaceChildren(svg)
    $('pl-legend').replaceChildren(...ways.map(m => { const e = document.createElement('li'); e.className = `pl-${m}`; e.textContent = (narrow() ? NAMES[m].replace(/ \(.*\)/, '') : NAMES[m]) + (m === 'none' ? '' : `: ${times(se[m]/se.none, 'wide')} without privacy`); return e }))
    return cut
  }

  // What the picture shows, in words
  function drawn(reg, d, cut) {
    const what = file ? `Coefficients of ${file.name} for ‘${file.y}’` : 'Coefficients of a made-up regression'
    const some = reg.names.length < d ? ` (${file ? 'the largest' : 'the first'} ${reg.names.length} of ${d})` : ''
    return `${what}${some}, with the 95 % intervals to expect.${cut ? ' An interval that reaches the edge goes on beyond it.' : ''}`
  }

  // Words joined, in lines of some length
  function wrapped(words, between, after, wide = 52) {
    let out = '', line = ''
    for (const w of words) { if (line && (line + between + w).length > wide) { out += line + between.trimEnd() + after; line = w } else line += (line ? between : '') + w }
    return out + line
  }

  function code(method, eps, delta, n, nothing, d) {
    const q = s => /^[A-Za-z_]\w*$/.test(s) ? s : `Q("${s.replace(/["\\]/g, '').replace(/'/g, "\\'")}")`
    const y = file ? q(file.y) : 'y', terms = file ? file.columns.map(q) : Array.from({length: d}, (_, j) => `x${j + 1}`)
    const formula = `'${y} ~ ${wrapped(terms, ' + ', method === 'public' ? " '\n            '" : " '\n                 '")}'`, at = delta === 1e-6 ? '' : `, delta=${short(delta)}`
    const publicly = `'${file ? file.name.replace(/['\\]/g, '') : 'public.csv'}'`, names = nothing ? `'private.csv'` : `'private.csv', ${publicly}`, dialect = file?.dialect ?? ''
    if (method === 'few') return `# nothing public, and too few rows to start from nothing: say where the values lie\nimport dp_pmt\n\nranges = {${wrapped([y, ...terms].map(t => `'${t}': (0, 100)`), ', ', '\n          ', 70)}} # your own, from the codebook\nfit = dp_pmt.fit(${formula},\n                 'private.csv', public=ranges,\n                 epsilon=${short(eps)}${at})`
    if (method === 'public') return `# ε = ${short(eps)} buys too little here. What would more rows or more ε buy?\nimport dp_pmt\n\nprint(dp_pmt.plan(${formula},\n            ${publicly}, n=${Math.round(4*n)}, epsilon=${short(eps)}${at}${dialect}))`
    return `import dp_pmt\n\nfit = dp_pmt.fit(${formula},\n                 ${names},\n                 epsilon=${short(eps)}${at}${dialect})\nprint(fit.summary())\nprint(fit.statement())`
  }

  const statement = (n, eps, delta, rho) => `The coefficients were computed (method: anchored) from ${count(n)} confidential rows. Each row is protected against a reader who knows the method, the public rows and all other confidential rows: had that one row been any other, the probability of every possible outcome would differ by a factor of at most exp(${short(eps)}), but for an additional probability of at most ${delta.toExponential().replace(/e-(\d)$/, 'e-0$1')} (differential privacy with epsilon = ${short(eps)} and delta = ${delta.toExponential().replace(/e-(\d)$/, 'e-0$1')}; ${short(rho)}-zCDP; neighbours: one row replaced). This was achieved with discrete Gaussian noise on a fine grid, drawn by OpenDP with entropy from the operating system and added to integers. The number of rows, the names of the columns and the public rows are not protected, and who contributed several rows is protected less.`

  function show() {
    const eps = value('pl-eps'), delta = value('pl-delta'), n = value('pl-n')
    const nB = file ? file.nB : value('pl-nb'), d = file ? file.d : value('pl-d'), R2 = file ? file.R2 : value('pl-r2')
    const nothing = nB < 4
    const e = nothing ? dpPmt.expectedOfNothing(n, Math.min(d, 32), R2, eps, delta) : dpPmt.expected(n, nB, Math.min(d, 32), R2, eps, delta)
    const se = {none: e.sampling, anchored: e.anchored, release: e.release, public: e.public}
    const method = nothing ? (e.anchored ? 'anchored' : 'few') : e.anchored > .9*e.public ? 'public' : 'anchored'
    $('pl-rho').textContent = `ρ = ${short(e.rho)}, another measure of the same budget (zCDP)`
    const worth = n/(1 + e.adds)**2, rows = `${count(n)} private rows${nothing ? ', nothing public' : ''} and ε\u00a0=\u00a0${short(eps)}`
    $('pl-says').innerHTML = method === 'anchored'
      ? `With ${rows}, privacy ${e.adds < 1 ? `adds <b>${percent(e.adds)}</b> to your standard errors` : `makes your standard errors <b>${percent(e.adds)}</b> as large`}.`
      : method === 'few' ? `With ${rows}, there are <b>too few rows</b> to start from nothing.`
      : `At ε\u00a0=\u00a0${short(eps)} these ${count(n)} rows say <b>no more than the public rows</b> do.`
    if (d > 32) $('pl-says').innerHTML += ` <small>These numbers are for 32 columns, the most that the table has. The file has ${d}: expect more.</small>`
    const use = `<b>Use</b> <code>dp_pmt.fit</code>. Its intervals are as wide as those of ${count(worth)} rows without privacy`, k = Math.min(d, 32), least = Math.ceil(1.5*(k + 1))
    const alike = !nothing && Math.abs(dpPmt.expected(n, least, k, R2, eps, delta).anchored/dpPmt.expected(n, 50*(k + 1), k, R2, eps, delta).anchored - 1) < .01
    $('pl-advice').innerHTML = (nothing
      ? (method === 'few' ? '<b>Say what is known</b>: ranges from a codebook, or a published table, take the place of public rows. ' : `${use}. With nothing public, a part of ε goes into asking where the columns lie: that is counted here, roughly. Ranges from a codebook would help, and columns of text need <code>levels=</code>. `) +
        '<a href="25a_knowledge.html">What can be public?</a>'
      : method === 'anchored' ? `${use}. ${alike ? 'More public rows, or fewer, would change next to nothing here. ' : ''}`
      : `<b>Spend nothing yet.</b> The private intervals would be as wide as those of the public rows alone. Take more rows, fewer columns or a larger ε. `) +
      (nothing ? nB ? ' Three public rows or fewer say too little: they count as none here.' : '' : e.release < .9*e.public ? `If others are to fit other models from your rows later, <code>dp_pmt.release</code> publishes sums with noise; standard errors from them would be ${times(e.release/e.sampling, 'large')} those without privacy.` : 'Sums with noise, from which others could fit later (<code>dp_pmt.release</code>), would be too noisy here.') +
      (!nothing && nB < least ? ` The table starts at one and a half public rows a coefficient: these numbers are for ${least} public rows.` : '')
    const reg = regression(d, R2)
    $('pl-drawn').textContent = drawn(reg, d, draw(reg, se))
    $('pl-code').textContent = code(method, eps, delta, n, nothing, d)
    $('pl-statement').textContent = method === 'anchored' ? statement(n, eps, delta, e.rho) : method === 'few' ? 'Nothing was computed yet.' : 'The coefficients were computed from public rows only.'
  }

  // CSV

  // {header, rows, dialect: what fit needs to read the same file}, or what is wrong
  function parse(text, name) {
    text = text.replace(/^\ufeff/, '').replace(/^\s*\n/, '')
    const sep = [',', '\t', ';'].map(s => [text.split('\n', 1)[0].split(s).length, s]).sort((a, b) => b[0] - a[0])[0]
    if (!text.trim()) return 'is empty'
    if (sep[0] < 2) return 'has one column only: its first line has no comma, semicolon or tab'
    const [header, ...rows] = cells(text, sep[1]), number = /^[+-]?\d*,\d+(e[+-]?\d+)?$/i, all = rows.flat()
    if (!rows.length) return 'has no rows below its first line'
    const comma = sep[1] !== ',' && all.some(c => number.test(c)) && !all.some(c => /^[+-]?\d*\.\d+$/.test(c))
    if (comma) rows.forEach(r => r.forEach((c, j) => { if (number.test(c)) r[j] = c.replace(',', '.') }))
    const known = sep[1] === ',' || sep[1] === '\t' && name.endsWith('.tsv')
    return {header, rows, dialect: (known ? '' : `,\n                 sep='${sep[1] === '\t' ? '\\t' : sep[1]}'`) + (comma ? `${known ? ',\n                 ' : ', '}decimal=','` : '')}
  }

  function cells(text, sep) {
    const rows = [[]]; let cell = '', quoted = false
    for (let i = 0; i < text.length; i++) {
      const c = text[i]
      if (quoted) { if (c === '"' && text[i + 1] === '"') { cell += c; i++ } else if (c === '"') quoted = false; else cell += c }
      else if (c === '"') quoted = true
      else if (c === sep) { rows.at(-1).push(cell.trim()); cell = '' }
      else if (c === '\n') { rows.at(-1).push(cell.trim()); cell = ''; rows.push([]) }
      else if (c !== '\r') cell += c
    }
    rows.at(-1).push(cell.trim())
    return rows.filter(r => r.length > 1 || r[0])
  }

  // Columns of numbers, and 0/1 columns of the levels of text but the first
  function encode(header, rows, y) {
    const out = [], used = []
    header.forEach((name, j) => {
      if (name === y) return
      const cells = rows.map(r => r[j])
      if (cells.every(c => Number.isFinite(Number(c)))) { out.push([name, cells.map(Number)]); used.push(name); return }
      const levels = [...new Set(cells)].sort()
      if (levels.length > 12) return
      used.push(name)
      levels.slice(1).forEach(l => out.push([`${name}: ${l}`, cells.map(c => +(c === l))]))
    })
    return [out.map(([name, v]) => [name || 'column', v]).filter(([, v]) => v.some(x => x !== v[0])), used]
  }

  function solve(M, b) { // Cholesky; null where columns are dependent
    const k = M.length, L = M.map(r => r.slice())
    for (let i = 0; i < k; i++) for (let j = 0; j <= i; j++) {
      let s = M[i][j]
      for (let m = 0; m < j; m++) s -= L[i][m]*L[j][m]
      if (i === j) { if (s < 1e-9) return null; L[i][i] = Math.sqrt(s) } else L[i][j] = s/L[j][j]
    }
    const z = b.slice()
    for (let i = 0; i < k; i++) { for (let m = 0; m < i; m++) z[i] -= L[i][m]*z[m]; z[i] /= L[i][i] }
    for (let i = k - 1; i >= 0; i--) { for (let m = i + 1; m < k; m++) z[i] -= L[m][i]*z[m]; z[i] /= L[i][i] }
    return z
  }

  function standard(v) {
    const mean = v.reduce((a, b) => a + b, 0)/v.length, c = v.map(x => x - mean), sd = Math.sqrt(c.reduce((a, x) => a + x*x, 0)/v.length)
    return c.map(x => x/sd)
  }

  // Sets what the file says and returns null, or returns what is wrong with it
  function read(name, {header, rows, dialect}, y) {
    const j = header.indexOf(y), whole = rows.filter(r => r.length === header.length && r.every(c => c !== '' && c !== 'NA' && c !== 'NaN') && Number.isFinite(Number(r[j])))
    const [columns, used] = encode(header, whole, y), nB = whole.length, d = columns.length
    if (!d || nB < d + 3) return `needs more complete rows than columns: it has ${nB} rows and ${d} columns`
    const X = columns.map(([, v]) => standard(v)), t = standard(whole.map(r => Number(r[j])))
    const dot = (a, b) => a.reduce((s, x, i) => s + x*b[i], 0)/nB
    const G = X.map(a => X.map(b => dot(a, b))), beta = solve(G, X.map(a => dot(a, t)))
    if (!beta) return 'has columns that are sums of others: leave one out'
    const left = t.reduce((s, v, i) => s + (v - X.reduce((u, a, m) => u + a[i]*beta[m], 0))**2, 0)/(nB - d - 1)
    const unit = G.map((_, m) => G.map((_, k) => +(k === m))), size = unit.map((e, m) => Math.sqrt(left*solve(G, e)[m]))
    const order = beta.map((b, m) => m).sort((a, b) => Math.abs(beta[b]) - Math.abs(beta[a])).slice(0, 12)
    const take = list => order.map(m => list[m]), most = Math.max(...order.map(m => Math.abs(beta[m]) + 2*size[m]/Math.sqrt(nB - d)))
    const edge = [.1, .2, .5, 1, 2, 5].find(e => e > most) ?? Math.ceil(most)
    file = {name, y, columns: used, dialect, share: Math.max(0, 1 - left), nB, d, R2: Math.min(Math.max(1 - left, .05), .95), names: take(columns.map(([n]) => n)), beta: take(beta), size: take(size), edge}
    return null
  }

  function said() {
    const {name, y, nB, d, share, R2} = file, shown = +share.toFixed(2)
    return `${name}: ${nB} complete rows, ${d} columns, R² = ${shown} for ‘${y}’${shown === +R2.toFixed(2) ? '' : ` (planned with ${R2}, the ${R2 < .5 ? 'least' : 'most'} that the table has)`}`
  }

  async function take(given) {
    const pick = $('pl-y')
    const fail = what => { forget(); $('pl-read').textContent = `${given.name} ${what}. No file is used.` }
    try {
      const found = parse(await given.text(), given.name)
      if (typeof found === 'string') return fail(found)
      const {header, rows} = found, number = header.filter((_, j) => rows.slice(0, 50).every(r => ['', 'NA', 'NaN', undefined].includes(r[j]) || Number.isFinite(Number(r[j]))) && rows.some(r => r[j]))
      if (!number.length) return fail('has no column of numbers')
      pick.replaceChildren(...number.map(h => new Option(h, h))); pick.value = number.at(-1)
      const again = () => {
        file = null
        const wrong = read(given.name, found, pick.value)
        for (const e of [pick, document.querySelector('.planner-y'), $('pl-forget')]) e.hidden = false
        $('pl-read').textContent = wrong ? `${given.name} ${wrong}. No file is used.` : said()
        lock(); show()
      }
      pick.onchange = again; again()
    } catch (e) { fail('could not be read as a table') }
  }

  function forget() {
    file = null; $('pl-read').textContent = ''
    for (const e of [$('pl-y'), document.querySelector('.planner-y'), $('pl-forget')]) e.hidden = true
    lock(); show()
  }

  function lock() { // what the file says is no longer a slider; without the file, what stood there before
    const fields = ['pl-nb', 'pl-d', 'pl-r2']
    if (file) kept ??= fields.map(id => $(id).value)
    const says = file ? [file.nB, file.d, +file.R2.toFixed(2)] : kept ?? fields.map(id => $(id).value)
    if (!file) kept = null
    fields.forEach((id, i) => {
      const range = document.querySelector(`[data-for=${id}]`)
      $(id).value = says[i]; $(id).disabled = range.disabled = !!file; range.follow()
      $(`${id}-note`).hidden = true; $(`${id}-note`).textContent = ''
    })
  }

  function link(range) { // a slider and its field; where 0 means none, it is the left end
    const field = $(range.dataset.for), log = 'log' in field.dataset, lo = Number(field.dataset.log || field.min), hi = Number(field.max), zero = log && field.min === '0'
    const to = v => zero && v < lo ? 0 : log ? 1000*Math.log(v/lo)/Math.log(hi/lo) : 1000*(v - lo)/(hi - lo)
    const from = t => zero && t < 5 ? 0 : log ? lo*(hi/lo)**(t/1000) : lo + (hi - lo)*t/1000
    const say = () => range.setAttribute('aria-valuetext', field.value)
    Object.assign(range, {min: 0, max: 1000, step: field.id === 'pl-d' ? 1000/31 : 5, value: to(Number(field.value))}); say()
    range.addEventListener('input', () => { const v = from(Number(range.value)); field.value = 'int' in field.dataset ? Math.round(v >= 100 ? Number(v.toPrecision(2)) : v) : +v.toPrecision(2); check(field); say(); show() })
    range.follow = () => { if (field.value !== '') range.value = to(Math.min(Math.max(Number(field.value), Number(field.min)), hi)); say() }
    field.addEventListener('input', () => { range.follow(); show() })
  }

  document.addEventListener('DOMContentLoaded', () => {
    const box = $('planner'); let wide = 0
    if (!box) return
    dpPmt.use(JSON.parse($('planner-table').textContent))
    box.querySelectorAll('input[type=range]').forEach(link)
    $('pl-delta').addEventListener('input', show)
    for (const field of box.querySelectorAll('input[type=number]')) {
      const note = Object.assign(document.createElement('small'), {id: `${field.id}-note`, className: 'planner-note', hidden: true})
      note.setAttribute('role', 'status'); field.after(note); field.setAttribute('aria-describedby', note.id)
      field.addEventListener('input', () => check(field))
      field.addEventListener('change', () => { check(field, true); show() })
    }
    $('pl-forget').addEventListener('click', forget)
    $('pl-file').addEventListener('change', e => { if (e.target.files[0]) take(e.target.files[0]); e.target.value = '' })
    const drop = box.querySelector('.planner-drop')
    box.addEventListener('dragover', e => { e.preventDefault(); drop.classList.add('over') })
    box.addEventListener('dragleave', () => drop.classList.remove('over'))
    box.addEventListener('drop', e => { e.preventDefault(); drop.classList.remove('over'); if (e.dataTransfer.files[0]) take(e.dataTransfer.files[0]) })
    box.hidden = false; show()
    document.querySelector('.planner-more').open = !narrow()
    new ResizeObserver(() => { if ($('pl-plot').clientWidth !== wide) { wide = $('pl-plot').clientWidth; show() } }).observe($('pl-plot'))
  })
})()
