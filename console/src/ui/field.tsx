import type { ComponentChildren } from 'preact';
import { useContext, useEffect, useId } from 'preact/hooks';

import { FormErrors } from './form.tsx';

interface FieldProps {
  readonly label: string;
  /** The name in the values of the form, and in the errors of the interface. */
  readonly name: string;
  readonly type?:
    | 'text'
    | 'email'
    | 'password'
    | 'number'
    | 'date'
    | 'datetime-local'
    | 'url'
    | 'search'
    | 'checkbox'
    | 'textarea'
    | 'select';
  readonly value?: string;
  readonly hint?: ComponentChildren;
  readonly required?: boolean;
  readonly autoFocus?: boolean;
  readonly autoComplete?: string;
  readonly inputMode?: 'text' | 'numeric' | 'decimal' | 'email' | 'url' | 'search';
  readonly placeholder?: string;
  readonly min?: number | string;
  readonly max?: number | string;
  readonly step?: number | 'any';
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly rows?: number;
  readonly readOnly?: boolean;
  readonly spellcheck?: boolean;
  /** Of a select. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  readonly onInput?: (value: string) => void;
}

/** A labelled field with its hint and its error. */
export function Field(props: FieldProps) {
  const id = useId();
  const error = useContext(FormErrors)?.fields.find(({ field }) => field === props.name)?.message;
  const described = [props.hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  useEffect(() => {
    // The browser focuses only the first field of a document that asks for it.
    if (props.autoFocus === true) document.getElementById(id)?.focus();
  }, []);
  const { type = 'text' } = props;
  const control = (
    <Control {...props} id={id} described={described} isInvalid={error !== undefined} />
  );
  return (
    <div class={`field ${type === 'checkbox' ? 'check' : ''}`}>
      {type === 'checkbox' && control}
      <label for={id}>
        {props.label}
        {props.required !== true && type !== 'checkbox' && <span class="optional"> optional</span>}
      </label>
      {type !== 'checkbox' && control}
      {props.hint && (
        <p class="hint" id={`${id}-hint`}>
          {props.hint}
        </p>
      )}
      {error && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

interface ControlProps extends FieldProps {
  readonly id: string;
  readonly described: string;
  readonly isInvalid: boolean;
}

function Control(props: ControlProps) {
  const { type = 'text', value = '', options = [] } = props;
  const common = {
    id: props.id,
    name: props.name,
    required: props.required,
    autofocus: props.autoFocus,
    'aria-invalid': props.isInvalid,
    'aria-describedby': props.described || undefined,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      props.onInput?.(event.currentTarget.value),
  };
  if (type === 'select') {
    return (
      <select {...common}>
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {option.label}
          </option>
        ))}
      </select>
    );
  }
  if (type === 'checkbox') {
    return <input {...common} type="checkbox" defaultChecked={value === 'on'} />;
  }
  if (type === 'textarea') {
    return (
      <textarea {...common} {...textProps(props)} rows={props.rows ?? 3} defaultValue={value} />
    );
  }
  return (
    <input
      {...common}
      {...textProps(props)}
      {...inputType(type)}
      defaultValue={value}
      min={props.min}
      max={props.max}
      step={props.step}
      pattern={props.pattern}
    />
  );
}

/** Returns the type of an input as its property. Preact's types accept only a literal, because roles depend on it. */
export function inputType(type: string): { readonly type?: 'text' } {
  return Object.fromEntries([['type', type]]);
}

function textProps(props: FieldProps) {
  const { placeholder, minLength, maxLength, autoComplete, inputMode, readOnly, spellcheck } =
    props;
  return { placeholder, minLength, maxLength, autoComplete, inputMode, readOnly, spellcheck };
}
