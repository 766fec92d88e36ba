// Demos: a picture for every point of a grid; sliders say which one is shown.
document.addEventListener('DOMContentLoaded', () => {
  for (const demo of document.querySelectorAll('.demo')) {
    const sliders = [...demo.querySelectorAll('input[type=range]')], frames = [...demo.querySelectorAll('img')]
    const show = () => {
      const at = sliders.map(s => s.value).join(' ')
      for (const s of sliders) {
        const label = s.dataset.values.split('|')[s.value]
        s.nextElementSibling.textContent = label; s.setAttribute('aria-valuetext', label)
      }
      for (const f of frames) f.hidden = f.dataset.at !== at
    }
    for (const s of sliders) s.addEventListener('input', show)
    demo.addEventListener('pointerenter', () => frames.forEach(f => { f.loading = 'eager' }), {once: true}) // fetched before they are needed
    show()
  }
})

// The line that opens the code stands beside a table that leaves room for it, not below
document.addEventListener('DOMContentLoaded', () => {
  for (const table of document.querySelectorAll('.cell_output table')) {
    const cell = table.closest('div.cell'), fold = cell.querySelector(':scope > details.hide')
    if (fold && (cell.offsetWidth - table.offsetWidth)/2 > fold.offsetWidth + 12) cell.classList.add('roomy')
  }
})

// Tables of results: the first rows, and a button for the rest. Pictures come first, numbers when asked for
document.addEventListener('DOMContentLoaded', () => {
  for (const table of document.querySelectorAll('article table')) {
    const rows = table.tBodies[0] ? table.tBodies[0].rows.length : 0
    if (!table.closest('.cell_output') && (rows <= 16 || document.querySelector('.genindextable, #by-module'))) continue // written by hand
    if (table.closest('.dp-summary') || rows <= 5 || rows <= 8 && table.offsetHeight < 300) continue // a regression table is shown whole
    const button = document.createElement('button')
    const show = all => {
      table.classList.toggle('long', !all)
      button.textContent = all ? 'first rows only' : `all ${rows} rows`
      button.setAttribute('aria-expanded', all)
    }
    button.type = 'button'; button.className = 'more'
    button.onclick = () => show(table.classList.contains('long'))
    table.after(button)
    show(false)
  }
})

// Search: names whose one line has the words stand first
document.addEventListener('DOMContentLoaded', () => {
  const results = document.getElementById('search-results'), asked = new URLSearchParams(location.search).get('q')
  if (!results || !asked || typeof NAMES === 'undefined') return
  const words = asked.toLowerCase().split(/\s+/).filter(w => w.length > 1)
  const score = ([name, line, , keys]) => words.reduce((sum, w) => {
    const stem = w.replace(/s$/, ''), has = t => t.toLowerCase().includes(stem)
    return sum + (name.toLowerCase() === w ? 9 : has(name) ? 3 : 0) + (has(keys) ? 4 : 0) + (has(line) ? 1 : 0) - (has(name) || has(keys) || has(line) ? 0 : 9)
  }, 0)
  const found = NAMES.map(n => [score(n), n]).filter(([s]) => s > 0).sort((a, b) => b[0] - a[0]).slice(0, 6)
  if (!found.length) return
  const list = document.createElement('ul')
  list.id = 'search-names'
  for (const [, [name, line, href]] of found) {
    const item = list.appendChild(document.createElement('li')), link = item.appendChild(document.createElement('a'))
    link.href = href; link.appendChild(document.createElement('code')).textContent = name
    item.append(' ' + line)
  }
  results.before(list)
})
