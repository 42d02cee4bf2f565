import { Button } from '#console/ui/button.tsx';
import { Dialog } from '#console/ui/dialog.tsx';
import { SecretOnce } from '#console/ui/revealed-secret.tsx';

interface SecretDialogProps {
  readonly secret: string;
  readonly onClose: () => void;
}

/** A signing secret, which is shown once. */
export function SecretDialog({ secret, onClose }: SecretDialogProps) {
  return (
    <Dialog title="Signing secret" onClose={onClose}>
      <p>Store it in the receiver, which verifies each message with it (Standard Webhooks).</p>
      <SecretOnce name="signing secret" text={secret} />
      <div class="buttons">
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
