import type { AgentBattery, AgentRaspberryPi, AgentSensors } from '@latchkey/contract';

import { Chart, type Line } from './chart.ts';
import {
  Card,
  formatKnown,
  joinKnown,
  makeChartPanel,
  makeListPanel,
  type MeterItem,
  MeterList,
  type Panel,
} from './components.ts';
import { formatCelsius, formatPercent, formatWatts } from './format.ts';
import type { Colour } from './theme.ts';
import type { Timeline } from './timeline.ts';

type Temperature = NonNullable<AgentSensors['temperatures']>[number];

const COLOURS: readonly Colour[] = ['rose', 'amber', 'blue', 'teal', 'violet', 'green'];

/** The limit of a sensor that reports none. */
const USUAL_LIMIT_CELSIUS = 100;

export function makeSensorPanel(timeline: Timeline): Panel {
  const chart = new Chart(timeline, { format: formatCelsius, least: 60 });
  const [list, fans] = [new MeterList(), new MeterList()];
  const card = new Card('sensors', 'Temperatures', chart.element, list.element, fans.element);
  return makeChartPanel(card, chart, ({ sensors }) => {
    const temperatures = sensors?.temperatures ?? [];
    card.setTitle(temperatures.length === 0 ? 'Fans' : 'Temperatures');
    chart.element.hidden = temperatures.length === 0;
    chart.setLines(chooseLines(temperatures));
    list.show(temperatures.slice(COLOURS.length).map(toTemperatureItem));
    fans.show(toFanItems(sensors?.fans ?? []));
    return temperatures.length + (sensors?.fans?.length ?? 0) > 0;
  });
}

/** The first sensors become lines: drivers report the whole package first. */
function chooseLines(temperatures: readonly Temperature[]): Line[] {
  return COLOURS.flatMap((colour, at) => {
    const sensor = temperatures[at];
    if (sensor === undefined) return [];
    return [{ key: `temperature.${sensor.id}`, label: nameSensor(sensor), colour }];
  });
}

function nameSensor({ chip, label }: { chip: string; label?: string }): string {
  return label === undefined ? chip : `${chip} ${label}`;
}

function toTemperatureItem(sensor: Temperature): MeterItem {
  const limit = sensor.critical_celsius ?? sensor.high_celsius ?? USUAL_LIMIT_CELSIUS;
  return {
    name: nameSensor(sensor),
    value: formatCelsius(sensor.temperature_celsius),
    ratio: sensor.temperature_celsius / Math.max(1, limit),
  };
}

function toFanItems(fans: NonNullable<AgentSensors['fans']>): MeterItem[] {
  return fans.map((fan) => ({ name: nameSensor(fan), value: `${fan.speed_rpm.toFixed(0)} rpm` }));
}

export function makeUnitPanel(): Panel {
  return makeListPanel('units', 'Failed units', ({ units }) =>
    (units?.failed ?? []).map((name) => ({ name, value: 'failed', isBad: true })),
  );
}

export function makeBatteryPanel(): Panel {
  return makeListPanel('batteries', 'Battery', ({ batteries = [] }) =>
    batteries.map(toBatteryItem),
  );
}

function toBatteryItem(battery: AgentBattery): MeterItem {
  const { charge_ratio: charge, health_ratio: health, power_watts: power, cycles } = battery;
  const detail = [
    battery.status.replace('_', ' '),
    formatKnown(power, formatWatts),
    formatKnown(health, (ratio) => `${formatPercent(ratio)} of its design capacity`),
    formatKnown(cycles, (count) => `${count} cycles`),
  ];
  return {
    name: battery.name,
    detail: joinKnown(detail),
    value: formatKnown(charge, formatPercent) ?? '–',
    ratio: charge,
    isJudged: false,
  };
}

export function makeRaspberryPiPanel(): Panel {
  return makeListPanel('raspberry-pi', 'Raspberry Pi', ({ raspberry_pi: pi }) =>
    pi === undefined
      ? []
      : [
          toPiItem('Under-voltage', pi.under_voltage),
          toPiItem('Clock held down', pi.frequency_capped),
          toPiItem('Throttled', pi.throttled),
          toPiItem('Slowed down by heat', pi.soft_temperature_limit),
        ],
  );
}

function toPiItem(name: string, state: AgentRaspberryPi['throttled']): MeterItem {
  const value = state.now ? 'now' : state.since_boot ? 'since boot' : 'never';
  return { name, value, isBad: state.now };
}
