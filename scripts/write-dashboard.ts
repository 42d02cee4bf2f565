/** `npm run dashboard`: writes the dashboard of Grafana. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { repository } from './lib/steps.ts';
import { DASHBOARD_FILE, renderDashboard } from './monitoring/dashboard.ts';

await writeFile(join(repository, DASHBOARD_FILE), renderDashboard());
