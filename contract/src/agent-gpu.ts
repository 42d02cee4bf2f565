import { type Static, Type } from 'typebox';
import { amount, measure, name, object, ratio } from './agent-schema.ts';
import { oneOf } from './schema.ts';

const { Optional } = Type;

/** A graphics processor. */
export const AgentGpu = object({
  vendor: oneOf(['nvidia', 'amd', 'intel']),
  index: Type.Integer({
    minimum: 0,
    description: "As nvidia-smi counts NVIDIA's, and /dev/dri/card* the others.",
  }),
  name: Optional(name('As its maker calls it.', 'NVIDIA GeForce RTX 4090')),
  model_id: Optional(name('Maker and model on PCI.', '1002:73bf')),
  uuid: Optional(name('Stays the same in another machine.')),
  pci_address: Optional(name('Where it is plugged in.', '0000:01:00.0')),
  asleep: Optional(
    Type.Boolean({ description: 'True while it sleeps: it is not woken up for its figures.' }),
  ),
  usage_ratio: Optional(ratio('Time with work. Absent for Intel: see `awake_ratio`.')),
  awake_ratio: Optional(
    ratio('Time out of the sleep state (RC6), Intel only: more than the time with work.'),
  ),
  memory_used_bytes: Optional(amount('In use.')),
  memory_total_bytes: Optional(amount('What it has.')),
  memory_shared: Optional(
    Type.Boolean({ description: "True where its memory is the machine's, programs included." }),
  ),
  host_memory_used_bytes: Optional(amount("Of the machine's memory, lent to the GPU.")),
  temperature_celsius: Optional(measure('Now.')),
  power_watts: Optional(amount('Drawn.')),
  power_limit_watts: Optional(amount('Where it slows down.')),
  fan_ratio: Optional(ratio('How fast the fan is told to turn.')),
  frequency_hertz: Optional(amount('The clock now; 0 while it has nothing to do.')),
  memory_frequency_hertz: Optional(amount('The clock of its memory.')),
});
export type AgentGpu = Static<typeof AgentGpu>;
