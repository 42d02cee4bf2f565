import type { OperatorRole } from '@latchkey/contract';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { ApiError } from '#console/app/api-error.ts';
import { apiPost } from '#console/app/api.ts';
import { invalidate, readAgain } from '#console/app/resources.ts';
import { hasRole } from '#console/app/session.ts';

import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorBox } from './error-box.tsx';
import { Field } from './field.tsx';
import { Form, type FormValues } from './form.tsx';
import { showToast } from './toast.tsx';
import { labelOf } from './labels.ts';

export interface ActionProps<Result> {
  /** The label of the button that opens the dialog, such as `Suspend`. */
  readonly label: string;
  /** The title of the dialog; default: the label. */
  readonly title?: string;
  /** What happens, in a sentence or two. */
  readonly explanation?: ComponentChildren;
  /** The label of the button that confirms; default: the label. */
  readonly confirm?: string;
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  /** The lowest role that may do it; others do not see the button. */
  readonly role: OperatorRole;
  readonly disabled?: boolean;
  /** The operation, such as `/api/v1/admin/licenses/…/suspend`. */
  readonly path: string;
  /** Whether a reason is asked for. Default: `none`. */
  readonly reason?: 'required' | 'optional' | 'none';
  /** The version of the resource that is shown, sent as `expected_version`. */
  readonly version?: number;
  /** Converts the fields to the body; default: the fields that are filled in. `reason` and `expected_version` are added. */
  readonly body?: (values: FormValues) => object;
  /** The paths that show something else afterwards. */
  readonly invalidates: readonly string[];
  /** What is reported afterwards; default: `Done.` */
  readonly done?: string | ((result: Result) => string);
  readonly onDone?: (result: Result) => void;
  /** Describes the current state in a conflict, such as `status: suspended`. */
  readonly describeCurrent?: (current: Record<string, unknown>) => ComponentChildren;
  /** The fields of the dialog. */
  readonly children?: ComponentChildren;
}

/**
 * A button with a dialog that sends a change. The dialog asks for the reason, shows a conflict with the current state, and
 * the client asks for a fresh proof where the operation needs one.
 */
export function Action<Result = unknown>(props: ActionProps<Result>) {
  const [isOpen, setOpen] = useState(false);
  if (!hasRole(props.role)) return null;
  return (
    <>
      <Button
        kind={props.kind ?? 'plain'}
        disabled={props.disabled ?? false}
        onClick={() => setOpen(true)}
      >
        {props.label}
      </Button>
      {isOpen && <ActionDialog<Result> {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

interface ActionDialogProps<Result> extends Omit<ActionProps<Result>, 'role'> {
  readonly onClose: () => void;
}

/** The dialog of {@link Action}, for what opens it otherwise. */
export function ActionDialog<Result = unknown>(props: ActionDialogProps<Result>) {
  const { label, reason = 'none', onClose } = props;
  // The state that the operator has seen: after a conflict, the one that the dialog showed.
  const [version, setVersion] = useState(props.version);

  async function send(values: FormValues): Promise<void> {
    try {
      const result = await apiPost<Result>(props.path, createBody(props, values, version));
      // The next change needs the new version. What `onDone` opens or leaves does not wait for it.
      if (props.onDone === undefined) await Promise.all(props.invalidates.map(readAgain));
      onClose();
      const { done = 'Done.' } = props;
      showToast(typeof done === 'string' ? done : done(result));
      if (props.onDone === undefined) return;
      props.onDone(result);
      await nextTask();
      for (const prefix of props.invalidates) invalidate(prefix);
    } catch (error) {
      const current = readCurrent(error);
      if (typeof current?.['version'] === 'number') setVersion(current['version']);
      if (current !== null) for (const prefix of props.invalidates) invalidate(prefix);
      throw error;
    }
  }

  return (
    <Dialog title={props.title ?? label} onClose={onClose}>
      {props.explanation && <p>{props.explanation}</p>}
      <Form
        onSubmit={send}
        submit={props.confirm ?? label}
        kind={props.kind === 'danger' ? 'danger' : 'primary'}
        buttons={<Button onClick={onClose}>Cancel</Button>}
        renderError={(error) => (
          <Conflict error={error} describe={props.describeCurrent ?? describeAny} />
        )}
      >
        {props.children}
        {reason !== 'none' && (
          <Field
            label="Reason"
            name="reason"
            required={reason === 'required'}
            maxLength={500}
            hint="Recorded in the audit log."
          />
        )}
      </Form>
    </Dialog>
  );
}

/** Waits until a page that was left by `onDone` is gone: it must not read again what the change deleted. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve);
  });
}

function createBody<Result>(
  { body = keepFilled }: Pick<ActionProps<Result>, 'body'>,
  { reason = '', ...values }: FormValues,
  version: number | undefined,
): object {
  return {
    ...body(values),
    ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
    ...(version === undefined ? {} : { expected_version: version }),
  };
}

function keepFilled(values: FormValues): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
}

function readCurrent(error: unknown): Record<string, unknown> | null {
  const current = error instanceof ApiError ? error.current : null;
  return typeof current === 'object' && current !== null ? { ...current } : null;
}

interface ConflictProps {
  readonly error: ApiError;
  readonly describe: (current: Record<string, unknown>) => ComponentChildren;
}

function Conflict({ error, describe }: ConflictProps) {
  const current = readCurrent(error);
  if (error.code !== 'conflict' || current === null) return <ErrorBox error={error} />;
  return (
    <div class="notice warning" role="alert">
      <p>This was changed after you opened it. Its current state:</p>
      <div>{describe(current)}</div>
      <p>Send it again if your change is still right.</p>
    </div>
  );
}

/** Describes the plain fields of a resource. */
function describeAny(current: Record<string, unknown>): ComponentChildren {
  const plain = Object.entries(current).filter(
    ([name, value]) => name !== 'id' && name !== 'version' && typeof value !== 'object',
  );
  return (
    <dl class="facts small">
      {plain.slice(0, 12).map(([name, value]) => (
        <div key={name}>
          <dt>{labelOf(name)}</dt>
          <dd>{String(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
