import { defineVersionReports } from './machines-by-version.ts';

/** Which operating systems is the application used on? By the last heartbeat of a machine on a day; from roll-ups. */
export const systems = defineVersionReports('systems', 'usage_system_days', 'os_version');
