import { type Static, Type } from 'typebox';
import { amount, measure, name, object, ratio } from './agent-schema.ts';
import { oneOf } from './schema.ts';

const { Optional } = Type;

/** A graphics processor. */
export const AgentGpu = object({
  vendor: oneOf(['nvidia', 'amd', 'intel']),
  index: Type.Integer({
    minimum: 0,
    description: 'The index in nvidia-smi for NVIDIA, the number of /dev/dri/card* for others.',
  }),
  name: Optional(name('The model name of the vendor.', 'NVIDIA GeForce RTX 4090')),
  model_id: Optional(name('The vendor and device id on PCI.', '1002:73bf')),
  uuid: Optional(name('Unique id of the card, also in another machine.')),
  pci_address: Optional(name('The PCI address.', '0000:01:00.0')),
  asleep: Optional(
    Type.Boolean({
      description: 'True while it is suspended; the agent does not wake it up to read metrics.',
    }),
  ),
  usage_ratio: Optional(
    ratio('Share of time that it was busy. Absent for Intel: see `awake_ratio`.'),
  ),
  awake_ratio: Optional(
    ratio('Share of time outside of the sleep state RC6, Intel only: higher than the busy time.'),
  ),
  memory_used_bytes: Optional(amount('Memory in use.')),
  memory_total_bytes: Optional(amount('Total memory.')),
  memory_shared: Optional(
    Type.Boolean({ description: "True if it uses the machine's memory, which programs use too." }),
  ),
  host_memory_used_bytes: Optional(amount('Memory of the machine that the GPU uses.')),
  temperature_celsius: Optional(measure('Current temperature.')),
  power_watts: Optional(amount('Current power consumption.')),
  power_limit_watts: Optional(amount('The power limit at which it throttles.')),
  fan_ratio: Optional(ratio('The target speed of the fan.')),
  frequency_hertz: Optional(amount('The current clock frequency; 0 while idle.')),
  memory_frequency_hertz: Optional(amount('The current clock frequency of its memory.')),
});
export type AgentGpu = Static<typeof AgentGpu>;
