import type { IssuedOperatorLink } from '@latchkey/contract';

import { Button } from '#console/ui/button.tsx';
import { Dialog } from '#console/ui/dialog.tsx';
import { SecretOnce } from '#console/ui/revealed-secret.tsx';
import { Time } from '#console/ui/time.tsx';

interface LinkDialogProps {
  readonly link: IssuedOperatorLink;
  readonly onClose: () => void;
}

/** A one-time link, which is shown once. */
export function LinkDialog({ link, onClose }: LinkDialogProps) {
  return (
    <Dialog title="One-time link" onClose={onClose}>
      <p>
        Hand this link to the operator over a channel that you trust. The first person who opens it
        sets the password. It works once, until <Time at={link.expires_at} />.
      </p>
      <SecretOnce name="one-time link" text={link.url} />
      <div class="buttons">
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
