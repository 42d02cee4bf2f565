import { defineVersionReports } from './machines-by-version.ts';

/** Which versions of the application are used, and how much? By the last heartbeat of a machine on a day; from roll-ups. */
export const versions = defineVersionReports('versions', 'usage_version_days', 'app_version');
