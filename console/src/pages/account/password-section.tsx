import { changeOperatorPassword } from '@latchkey/contract/admin/credentials';
import { listSessions } from '@latchkey/contract/admin/session';
import { useState } from 'preact/hooks';

import { call, pathOf } from '#console/app/call.ts';
import { invalidate } from '#console/app/resources.ts';
import { Button } from '#console/ui/button.tsx';
import { Dialog } from '#console/ui/dialog.tsx';
import { Form } from '#console/ui/form.tsx';
import { Section } from '#console/ui/page.tsx';
import { showToast } from '#console/ui/toast.tsx';

import { NewPasswordField } from './new-password-field.tsx';

/** Changes the password. */
export function PasswordSection() {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <Section
      title="Password"
      intro="Changing it ends all your other sessions."
      actions={<Button onClick={() => setOpen(true)}>Change password</Button>}
    >
      {isOpen && (
        <Dialog title="Change password" onClose={close}>
          <Form
            submit="Change password"
            buttons={<Button onClick={close}>Cancel</Button>}
            onSubmit={async ({ password = '' }) => {
              await call(changeOperatorPassword, { body: { password } });
              invalidate(pathOf(listSessions));
              close();
              showToast('The password was changed.');
            }}
          >
            <NewPasswordField />
          </Form>
        </Dialog>
      )}
    </Section>
  );
}
