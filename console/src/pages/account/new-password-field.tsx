import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '@latchkey/contract/constants';

import { Field } from '#console/ui/field.tsx';

/** A password that is chosen. */
export function NewPasswordField({ autoFocus = true }: { readonly autoFocus?: boolean }) {
  return (
    <Field
      label="New password"
      name="password"
      type="password"
      autoComplete="new-password"
      required
      autoFocus={autoFocus}
      minLength={MIN_PASSWORD_LENGTH}
      maxLength={MAX_PASSWORD_LENGTH}
      hint={`At least ${MIN_PASSWORD_LENGTH} characters. A password manager can create it.`}
    />
  );
}
