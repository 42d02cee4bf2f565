/** An event as the provider's log has it, as far as it is looked at here. */
export interface LoggedEvent {
  readonly eventId: string;
  readonly type: string;
  readonly occurredAt: Date;
  /** The event as its webhook would have carried it. */
  readonly body: object;
}
