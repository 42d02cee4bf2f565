/**
 * `npm run build:site`: builds the documentation as a static site in `dist/site`, from the Markdown files of the repository. It
 * requests nothing from other hosts, and works from any web server, below any path, and from the disk.
 * `-- --out FOLDER` writes it elsewhere.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { repository } from '../lib/steps.ts';
import { buildSite } from './build-site.ts';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const folder = values.out ?? join(repository, 'dist', 'site');
const { pages } = await buildSite(folder);
console.log(`${pages} pages. Open ${join(folder, 'index.html')}`);
