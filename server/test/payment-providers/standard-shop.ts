/** An own shop of a test service: it sends events in this project's own format, signed. */
import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/schema';

import { TEST_WEBHOOK_SECRETS, type TestService } from '../harness.ts';
import { standardDelivery, standardEvent } from './standard-webhooks-events.ts';

const NullableText = Type.Union([Type.String(), Type.Null()]);

const Receipt = Type.Object({ status: Type.String(), message: NullableText });
const receiptReader = Compile(Receipt);

const Checked = Type.Object({
  licenses: Type.Array(
    Type.Object({
      license_key: NullableText,
      status: Type.String(),
      expires_at: NullableText,
      product_type: NullableText,
    }),
  ),
});
const checkReader = Compile(Checked);

export interface StandardShop {
  /** Sends an event at the time of the service's clock, by default of now. */
  send(
    type: string,
    data: Readonly<Record<string, unknown>>,
    at?: Date,
  ): Promise<Static<typeof Receipt>>;
  check(transactionId: string): Promise<Static<typeof Checked>['licenses']>;
}

/** @param name begins the ids of its messages, for several shops on one database */
export function openStandardShop(service: TestService, name = 'msg'): StandardShop {
  const [secret] = TEST_WEBHOOK_SECRETS.standard;
  let sent = 0;
  return {
    async send(type, data, at = service.clock.now()) {
      sent += 1;
      const { body, headers } = standardDelivery(standardEvent(type, data, at), {
        secret: secret ?? '',
        at: service.clock.now(),
        id: `${name}_${sent}`,
      });
      const answer = await service.post('/api/v1/webhooks/standard', body, headers);
      return receiptReader.Parse(answer.body);
    },
    async check(transactionId) {
      const answer = await service.get(`/api/v1/licenses/check/${transactionId}`);
      return checkReader.Parse(answer.body).licenses;
    },
  };
}
