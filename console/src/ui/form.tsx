import { createContext, type ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';

import { ApiError } from '#console/app/api-error.ts';

import { Button } from './button.tsx';
import { ErrorBox } from './error-box.tsx';

/** The values of a form by the names of its fields; a checked box has the value `on`. */
export type FormValues = Readonly<Record<string, string>>;

/** The error of the form around a field. */
export const FormErrors = createContext<ApiError | null>(null);

interface FormProps {
  /** Sends the form. An ApiError that it throws is shown, at the field if it names one. */
  readonly onSubmit: (values: FormValues) => Promise<void>;
  readonly submit: string;
  readonly kind?: 'primary' | 'danger';
  /** Beside the submit button. */
  readonly buttons?: ComponentChildren;
  /** Shows an error itself and returns its content; null: the form shows it. */
  readonly renderError?: (error: ApiError) => ComponentChildren;
  readonly children?: ComponentChildren;
}

/** A form that is sent once at a time and keeps its fields after a failure. */
export function Form(props: FormProps) {
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);

  async function send(): Promise<void> {
    if (isBusy || form.current === null) return;
    setBusy(true);
    setError(null);
    try {
      await props.onSubmit(readValues(form.current));
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      setError(caught);
      focusFirstError(form.current, caught);
    } finally {
      setBusy(false);
    }
  }

  return (
    <FormErrors.Provider value={error}>
      <form
        ref={form}
        class="form"
        noValidate={false}
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        {props.children}
        {error !== null && (props.renderError?.(error) ?? <FormError error={error} form={form} />)}
        <div class="buttons">
          <Button type="submit" kind={props.kind ?? 'primary'} busy={isBusy}>
            {props.submit}
          </Button>
          {props.buttons}
        </div>
      </form>
    </FormErrors.Provider>
  );
}

interface FormErrorProps {
  readonly error: ApiError;
  readonly form: { readonly current: HTMLFormElement | null };
}

/** Shows an error unless a field shows it. */
function FormError({ error, form }: FormErrorProps) {
  const isAtField =
    error.fields.length > 0 && error.fields.every(({ field }) => hasField(form.current, field));
  return isAtField ? null : <ErrorBox error={error} />;
}

function hasField(form: HTMLFormElement | null, name: string): boolean {
  return form?.elements.namedItem(name) != null;
}

function readValues(form: HTMLFormElement): FormValues {
  const values: Record<string, string> = {};
  for (const [name, value] of new FormData(form)) {
    if (typeof value === 'string') values[name] = value;
  }
  return values;
}

function focusFirstError(form: HTMLFormElement, { fields }: ApiError): void {
  const found = form.elements.namedItem(fields[0]?.field ?? '');
  if (found instanceof HTMLElement) found.focus();
}
