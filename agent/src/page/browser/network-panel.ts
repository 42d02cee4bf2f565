import type { AgentInterface } from '@latchkey/contract';

import { Chart } from './chart.ts';
import { Card, type Cell, Table } from './components.ts';
import { formatBitRate, formatByteRate, formatCount } from './format.ts';
import type { Panel, PanelContext } from './panel.ts';

export function makeNetworkPanel({ timeline }: PanelContext): Panel {
  const chart = new Chart(timeline, { format: formatByteRate, least: 10_000 });
  const table = new Table('Network interfaces', ['Interface', 'Link', 'Received', 'Sent', 'Lost']);
  const card = new Card('network', 'Network', chart.element, table.element);
  chart.setLines([
    { key: 'network.receive', label: 'Received', colour: 'green', isFilled: true },
    { key: 'network.transmit', label: 'Sent', colour: 'violet', isFilled: true },
  ]);
  return {
    element: card.element,
    draw: () => chart.draw(),
    update({ network }) {
      if (network === undefined) return false;
      table.show(network.interfaces.map(toInterfaceRow));
      return true;
    },
  };
}

function toInterfaceRow(each: AgentInterface): Cell[] {
  const { receive_bytes_per_second: received, transmit_bytes_per_second: sent } = each;
  const lost =
    each.receive_errors_total +
    each.transmit_errors_total +
    each.receive_drops_total +
    each.transmit_drops_total;
  return [
    each.interface,
    describeLink(each),
    received === undefined ? undefined : formatByteRate(received),
    sent === undefined ? undefined : formatByteRate(sent),
    formatCount(lost),
  ];
}

function describeLink({ up, speed_bits_per_second: speed, kind }: AgentInterface): string {
  if (up === false) return 'down';
  return speed === undefined ? kind : formatBitRate(speed);
}
