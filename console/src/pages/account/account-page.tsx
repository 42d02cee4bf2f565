import { operator } from '#console/app/session.ts';
import { Badge } from '#console/ui/badge.tsx';
import { Page } from '#console/ui/page.tsx';
import { useSignInMethods } from '#console/ui/passkey-button.tsx';

import { PasskeysSection } from './passkeys-section.tsx';
import { PasswordSection } from './password-section.tsx';
import { SecondFactorSection } from './second-factor-section.tsx';
import { SessionsSection } from './sessions-section.tsx';

/** The operator's own account: second factor, passkeys and password, as far as the service uses them, and sessions. */
export function AccountPage() {
  const current = operator.value;
  const hasPasswords = useSignInMethods()?.passwords !== false;
  if (current == null) return null;
  return (
    <Page
      title={current.name}
      status={<Badge>{current.role}</Badge>}
      intro={current.email ?? undefined}
    >
      {hasPasswords && <SecondFactorSection current={current} />}
      <PasskeysSection />
      {hasPasswords && <PasswordSection />}
      <SessionsSection />
    </Page>
  );
}
