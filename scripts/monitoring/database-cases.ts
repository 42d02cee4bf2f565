/** When the alerts on the database, the disk and backups fire, and when they do not. */
import { type AlertCase, bucket, of } from './alert-case.ts';

const BATCH = 'latchkey_batch_duration_seconds';
const MIB = 1024 ** 2;
const DAY_SECONDS = 86_400;

export const DATABASE_CASES: Readonly<Record<string, AlertCase>> = {
  LatchkeyDatabaseUnavailable: {
    fires: {
      [of('latchkey_task_last_success_timestamp_seconds', 'task="backlog"')]: '0+60x4 240x30',
    },
    silent: {
      [of('latchkey_task_last_success_timestamp_seconds', 'task="backlog"')]:
        '0+60x6 240 480+60x30',
      [of('latchkey_task_last_success_timestamp_seconds', 'task="webhook_cleanup"')]: '0x30',
    },
    notYetAt: '8m',
  },
  LatchkeyDatabaseSlow: {
    fires: {
      [bucket(BATCH, '0.5', 'batch="activations"')]: '0+90x40',
      [bucket(BATCH, '1', 'batch="activations"')]: '0+100x40',
      [bucket(BATCH, '+Inf', 'batch="activations"')]: '0+100x40',
    },
    silent: {
      [bucket(BATCH, '0.25', 'batch="activations"')]: '0+96x40',
      [bucket(BATCH, '0.5', 'batch="activations"')]: '0+97x40',
      [bucket(BATCH, '+Inf', 'batch="activations"')]: '0+100x40',
    },
    at: '15m',
    notYetAt: '9m',
  },
  LatchkeyDatabasePoolExhausted: {
    fires: { [of('latchkey_database_pool_waiting')]: '0x2 7x30' },
    silent: { [of('latchkey_database_pool_waiting')]: '9 0 9 9 0 9 9 9 0 9 9 0x20' },
    at: '15m',
    notYetAt: '11m',
  },
  LatchkeyDiskLow: {
    fires: { [of('latchkey_disk_free_bytes')]: `${2047 * MIB}x40` },
    silent: { [of('latchkey_disk_free_bytes')]: `${2048 * MIB}x40` },
    at: '15m',
    notYetAt: '14m',
  },
  LatchkeyDiskFull: {
    fires: { [of('latchkey_disk_free_bytes')]: `${767 * MIB}x40` },
    silent: { [of('latchkey_disk_free_bytes')]: `${768 * MIB}x40` },
    at: '1m',
    notYetAt: '0m',
  },
  LatchkeyDiskFilling: {
    interval: '10m',
    // 13 GiB in three days are 30 MiB in ten minutes.
    fires: { [of('latchkey_disk_free_bytes')]: `${13_440 * MIB}-${30 * MIB}x160` },
    silent: { [of('latchkey_disk_free_bytes')]: `${13_440 * MIB}-${20 * MIB}x160` },
    at: '26h',
    notYetAt: '30m',
    also: [
      {
        when: 'after a nightly backup of 1 GiB on the same disk',
        series: { [of('latchkey_disk_free_bytes')]: `${13_440 * MIB}x144 ${12_416 * MIB}x20` },
        at: '27h',
        fires: false,
      },
    ],
  },
  LatchkeyEventsRefused: {
    fires: {
      [of('latchkey_refusals_total', 'operation="events",reason="storage_low"')]: '0x2 1+9x30',
    },
    silent: {
      [of('latchkey_refusals_total', 'operation="events",reason="rate_limited"')]: '0x2 1+9x30',
    },
    notYetAt: '5m',
  },
  LatchkeyEventPartitionsEnd: {
    fires: { [of('latchkey_event_partitions_until_timestamp_seconds')]: `${3 * DAY_SECONDS}x90` },
    silent: { [of('latchkey_event_partitions_until_timestamp_seconds')]: `${4 * DAY_SECONDS}x90` },
    at: '40m',
    notYetAt: '20m',
  },
  LatchkeyBackupOld: {
    fires: { [of('latchkey_backup_last_success_timestamp_seconds')]: `-${36 * 3600}x90` },
    silent: { [of('latchkey_backup_last_success_timestamp_seconds')]: `-${34 * 3600}x90` },
    at: '30m',
    notYetAt: '10m',
  },
  LatchkeyBackupMissing: {
    interval: '1h',
    fires: { [of('latchkey_build_info')]: '1x30' },
    silent: {
      [of('latchkey_build_info')]: '1x30',
      // Another service on the same database wrote it.
      'latchkey_backup_last_success_timestamp_seconds{job="latchkey",instance="other:443"}': '1x30',
    },
    at: '25h',
    notYetAt: '23h',
  },
  LatchkeySigningKeyOld: {
    fires: {
      [of('latchkey_signing_key_active_from_timestamp_seconds')]: `-${400 * DAY_SECONDS}x90`,
    },
    silent: {
      [of('latchkey_signing_key_active_from_timestamp_seconds')]: `-${399 * DAY_SECONDS}x90`,
    },
    at: '70m',
    notYetAt: '30m',
  },
};
