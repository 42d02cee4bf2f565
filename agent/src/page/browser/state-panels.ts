import type { AgentBattery, AgentRaspberryPi } from '@latchkey/contract';

import { Card, type MeterItem, MeterList } from './components.ts';
import { formatPercent, formatWatts } from './format.ts';
import type { Panel } from './panel.ts';

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
