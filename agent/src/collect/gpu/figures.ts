import type { AgentGpu } from '@latchkey/contract';

/** What changes about a card. */
export type Figures = Omit<
  AgentGpu,
  'vendor' | 'index' | 'name' | 'model_id' | 'uuid' | 'pci_address' | 'asleep'
>;

/** Reads the figures of one card while that is awake. */
export interface FiguresReader {
  /** @param atMs milliseconds of a clock that only goes forward */
  read(atMs: number): Figures;
  close(): void;
}
