import type { AgentBattery, AgentRaspberryPi, AgentSensors } from '@latchkey/contract';

import { Chart, type Line } from './chart.ts';
import { Card, type MeterItem, MeterList, type Panel, type PanelContext } from './components.ts';
import { formatCelsius, formatPercent, formatWatts } from './format.ts';
import type { Colour } from './theme.ts';

type Temperature = NonNullable<AgentSensors['temperatures']>[number];

const COLOURS: readonly Colour[] = ['rose', 'amber', 'blue', 'teal', 'violet', 'green'];

/** Where a scale of heat ends for a sensor that does not say it. */
const USUAL_LIMIT_CELSIUS = 100;

export function makeSensorPanel({ timeline }: PanelContext): Panel {
  const chart = new Chart(timeline, { format: formatCelsius, least: 60 });
  const [list, fans] = [new MeterList(), new MeterList()];
  const card = new Card('sensors', 'Temperatures', chart.element, list.element, fans.element);
  return {
    element: card.element,
    draw: () => chart.draw(),
    update({ sensors }) {
      const temperatures = sensors?.temperatures ?? [];
      card.setTitle(temperatures.length === 0 ? 'Fans' : 'Temperatures');
      chart.element.hidden = temperatures.length === 0;
      chart.setLines(chooseLines(temperatures));
      list.show(temperatures.slice(COLOURS.length).map(toTemperatureItem));
      fans.show(toFanItems(sensors?.fans ?? []));
      return temperatures.length + (sensors?.fans?.length ?? 0) > 0;
    },
  };
}

/** The first ones become lines; drivers tell of the whole package first. */
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
  const list = new MeterList();
  const card = new Card('units', 'Failed units', list.element);
  return {
    element: card.element,
    update({ units }) {
      const failed = units?.failed ?? [];
      list.show(failed.map((name) => ({ name, value: 'failed', isBad: true })));
      return failed.length > 0;
    },
  };
}

export function makeBatteryPanel(): Panel {
  const list = new MeterList();
  const card = new Card('batteries', 'Battery', list.element);
  return {
    element: card.element,
    update({ batteries = [] }) {
      list.show(batteries.map(toBatteryItem));
      return batteries.length > 0;
    },
  };
}

function toBatteryItem(battery: AgentBattery): MeterItem {
  const { charge_ratio: charge, health_ratio: health, power_watts: power, cycles } = battery;
  const detail = [
    battery.status.replace('_', ' '),
    power === undefined ? undefined : formatWatts(power),
    health === undefined ? undefined : `${formatPercent(health)} of what it was made for`,
    cycles === undefined ? undefined : `${cycles} cycles`,
  ];
  return {
    name: battery.name,
    detail: detail.filter((part) => part !== undefined).join(' · '),
    value: charge === undefined ? '–' : formatPercent(charge),
    ratio: charge,
    isJudged: false,
  };
}

export function makeRaspberryPiPanel(): Panel {
  const list = new MeterList();
  const card = new Card('raspberry-pi', 'Raspberry Pi', list.element);
  return {
    element: card.element,
    update({ raspberry_pi: pi }) {
      if (pi === undefined) return false;
      const items = [
        toPiItem('Under-voltage', pi.under_voltage),
        toPiItem('Clock held down', pi.frequency_capped),
        toPiItem('Throttled', pi.throttled),
        toPiItem('Slowed down by heat', pi.soft_temperature_limit),
      ];
      list.show(items);
      return true;
    },
  };
}

function toPiItem(name: string, state: AgentRaspberryPi['throttled']): MeterItem {
  const value = state.now ? 'now' : state.since_boot ? 'since boot' : 'never';
  return { name, value, isBad: state.now };
}
