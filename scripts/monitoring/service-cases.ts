/** When the alerts on the service itself fire, and when they do not. */
import { AGENT, type AlertCase, bucket, of } from './alert-case.ts';

const state = (name: string) => of('latchkey_http_load_state', `state="${name}"`);
const requests = (status: number, route = '/api/v1/licenses/validate', suffix = 'count') =>
  of(
    `latchkey_http_request_duration_seconds_${suffix}`,
    `route="${route}",method="POST",status="${status}"`,
  );
const workers = (name: string) => of('latchkey_workers', `state="${name}"`);
const VALIDATE = 'route="/api/v1/licenses/validate",method="POST",status="200"';
const DURATION = 'latchkey_http_request_duration_seconds';
const DELAY = 'latchkey_event_loop_delay_seconds';

export const SERVICE_CASES: Readonly<Record<string, AlertCase>> = {
  LatchkeyDown: {
    fires: { [of('up')]: '1x4 0x20' },
    silent: { [of('up')]: '1x4 0 1x20' },
    notYetAt: '6m',
  },
  LatchkeyMissing: {
    fires: { [`up{${AGENT}}`]: '1x30' },
    silent: { 'up{job="latchkey-eu",instance="eu.example.com:443"}': '0x30' },
    at: '11m',
    notYetAt: '9m',
  },
  LatchkeyNotReady: {
    fires: { [state('refusing')]: '0x4 1x20' },
    silent: { [state('overloaded')]: '1x20', [state('refusing')]: '0x20' },
    notYetAt: '5m',
  },
  LatchkeyOverloaded: {
    fires: { [state('overloaded')]: '0 1x20' },
    silent: { [state('overloaded')]: '1x3 0 1x4 0 1x20' },
    notYetAt: '5m',
  },
  LatchkeyErrors: {
    fires: { [requests(200)]: '0+100x30', [requests(503)]: '0+5x30' },
    silent: {
      [requests(200)]: '0+1000x30',
      [requests(404)]: '0+900x30',
      [requests(503)]: '0+5x30',
      // Events that are refused for lack of space.
      [requests(503, '/api/v1/events')]: '0+900x30',
    },
    at: '15m',
    notYetAt: '8m',
    also: [
      {
        when: 'after a restart of the database on a quiet day',
        series: { [requests(200)]: '0+5x5 25x2 30+5x30', [requests(503)]: '0x4 10 20 20x30' },
        at: '10m',
        fires: false,
      },
    ],
  },
  LatchkeyInternalError: {
    fires: { [requests(500)]: '_x8 1x30' },
    silent: { [requests(503)]: '_x8 1+5x30', [requests(500)]: '3x40' },
    at: '16m',
  },
  LatchkeySlow: {
    fires: {
      [bucket(DURATION, '1', VALIDATE)]: '0+98x40',
      [bucket(DURATION, '2.5', VALIDATE)]: '0+100x40',
      [bucket(DURATION, '+Inf', VALIDATE)]: '0+100x40',
      [requests(200)]: '0+100x40',
    },
    silent: {
      [bucket(DURATION, '1', VALIDATE)]: '0+995x40',
      [bucket(DURATION, '2.5', VALIDATE)]: '0+1000x40',
      [bucket(DURATION, '+Inf', VALIDATE)]: '0+1000x40',
      [requests(200)]: '0+1000x40',
    },
    at: '15m',
    notYetAt: '10m',
  },
  LatchkeyEventLoopBlocked: {
    fires: {
      [bucket(DELAY, '1.0')]: '0+599x30',
      [of(`${DELAY}_count`)]: '0+600x30',
      [of('latchkey_build_info')]: '1x30',
    },
    silent: {
      [bucket(DELAY, '1')]: '0+600x20 12599+600x10',
      [of(`${DELAY}_count`)]: '0+600x30',
      [of('latchkey_build_info')]: '1x30',
    },
    at: '16m',
    also: [
      {
        when: 'when the machine of four workers stood still once',
        series: {
          [bucket(DELAY, '1')]: '0+2400x10 26396+2400x10',
          [of(`${DELAY}_count`)]: '0+2400x30',
          [workers('wanted')]: '4x30',
          [of('latchkey_build_info')]: '1x30',
        },
        at: '16m',
        fires: false,
      },
      {
        when: 'when the workers block again and again',
        series: {
          [bucket(DELAY, '1')]: '0+2399x30',
          [of(`${DELAY}_count`)]: '0+2400x30',
          [workers('wanted')]: '4x30',
          [of('latchkey_build_info')]: '1x30',
        },
        at: '16m',
        fires: true,
      },
    ],
  },
  LatchkeyRestarting: {
    fires: {
      [of('process_start_time_seconds')]: '0+60x5 300x20',
      [of('latchkey_build_info')]: '1x30',
    },
    silent: {
      [of('process_start_time_seconds')]: '0x5 300x9 900x20',
      [of('latchkey_build_info')]: '1x40',
      // Another program.
      'process_start_time_seconds{job="node",instance="license.example.com:9100"}': '0+60x40',
    },
    at: '20m',
  },
  LatchkeyWorkersMissing: {
    fires: { [workers('running')]: '4x3 3x20', [workers('wanted')]: '4x30' },
    silent: { [workers('running')]: '4x3 3x3 4x20', [workers('wanted')]: '4x30' },
    notYetAt: '6m',
  },
  LatchkeyWorkersRestarting: {
    fires: { [of('latchkey_worker_ends_total')]: '0+1x40', [workers('wanted')]: '4x40' },
    silent: { [of('latchkey_worker_ends_total')]: '0x9 4x9 8x20', [workers('wanted')]: '4x40' },
    at: '31m',
  },
};
