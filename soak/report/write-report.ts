import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { repository } from '../../scripts/lib/steps.ts';
import { renderPage } from './page.ts';
import type { SoakReport } from './report.ts';

/** Writes the report, and beside it the log of the service. Returns the path of the report. */
export async function writeReport(report: SoakReport, logFile: string): Promise<string> {
  const createdAt = new Date();
  const byDefault = join(
    repository,
    'soak',
    'results',
    createdAt.toISOString().replaceAll(':', '-'),
  );
  const directory = resolve(report.options.out ?? byDefault);
  await mkdir(directory, { recursive: true });
  await copyFile(logFile, join(directory, 'service.log'));
  const file = join(directory, 'report.html');
  await writeFile(file, renderPage(report, createdAt));
  return file;
}
