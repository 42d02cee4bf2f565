import { openSearch } from './search.ts';

const navigation = document.querySelector('nav details');
const area = document.querySelector('search');
const field = area?.querySelector('input');
const list = area?.querySelector('ol');

// Without a script, the navigation of a narrow page is open.
if (matchMedia('(width < 52rem)').matches) navigation?.removeAttribute('open');
if (area && field && list) openSearch(area.dataset['root'] ?? '.', field, list);
