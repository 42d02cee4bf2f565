import type { CampaignProblem, CampaignStart, CampaignText } from '@latchkey/contract';
import type { Ref } from 'preact';
import { useId, useRef } from 'preact/hooks';

import { insertBlock, insertText, type Insertion } from './insert-text.ts';

interface TextEditorProps {
  readonly text: CampaignText;
  readonly problems: readonly CampaignProblem[];
  readonly placeholders: CampaignStart['placeholders'];
  readonly onChange: (text: CampaignText) => void;
}

/** What a button of the toolbar inserts. */
const BLOCKS = [
  { label: 'Heading', block: '# ', sample: 'Heading' },
  { label: 'List', block: '- ', sample: 'First' },
  { label: 'Link', block: '[', sample: 'Read more', after: ']({{news_url}})' },
  { label: 'Button', block: '[[', sample: 'Download', after: ']]({{download_url}})' },
] as const;

/** Subject, preview and text of a mail in one language, with buttons for marks and placeholders. */
export function TextEditor({ text, problems, placeholders, onChange }: TextEditorProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const subject = useRef<HTMLInputElement>(null);
  /** The field that placeholders are inserted into: the one that had the focus last. */
  const last = useRef<'subject' | 'text'>('text');
  const id = useId();

  function apply(field: 'subject' | 'text', { value, start, end }: Insertion): void {
    onChange({ ...text, [field]: value });
    const control = field === 'text' ? area.current : subject.current;
    // After the new value is rendered.
    requestAnimationFrame(() => {
      control?.focus();
      control?.setSelectionRange(start, end);
    });
  }

  function insertPlaceholder(placeholder: string): void {
    const control = last.current === 'text' ? area.current : subject.current;
    if (control === null) return;
    const { value, selectionStart, selectionEnd } = control;
    const at = [selectionStart ?? value.length, selectionEnd ?? value.length] as const;
    apply(last.current, insertText(value, at, placeholder));
  }

  function addBlock(index: number): void {
    const block = BLOCKS[index];
    if (area.current === null || block === undefined) return;
    const { value, selectionStart, selectionEnd } = area.current;
    const after = 'after' in block ? block.after : '';
    const around = { before: block.block, sample: block.sample, after };
    apply('text', insertBlock(value, [selectionStart, selectionEnd], around));
  }

  return (
    <div class="form">
      <div class="field">
        <label for={`${id}-subject`}>Subject</label>
        <input
          ref={subject}
          id={`${id}-subject`}
          maxLength={200}
          value={text.subject}
          onFocus={() => (last.current = 'subject')}
          onInput={(event) => onChange({ ...text, subject: event.currentTarget.value })}
          {...describe(problems, 'subject', id)}
        />
        <Problems problems={problems} field="subject" id={id} />
      </div>
      <div class="field">
        <label for={`${id}-preview`}>
          Preview <span class="optional">shown by inboxes beside the subject</span>
        </label>
        <input
          id={`${id}-preview`}
          maxLength={200}
          value={text.preview}
          onInput={(event) => onChange({ ...text, preview: event.currentTarget.value })}
          {...describe(problems, 'preview', id)}
        />
        <Problems problems={problems} field="preview" id={id} />
      </div>
      <TextField
        {...{ text, problems, placeholders, onChange, area, id }}
        onFocus={() => (last.current = 'text')}
        onBlock={addBlock}
        onPlaceholder={insertPlaceholder}
      />
    </div>
  );
}

interface TextFieldProps extends TextEditorProps {
  readonly area: Ref<HTMLTextAreaElement>;
  readonly id: string;
  readonly onFocus: () => void;
  readonly onBlock: (index: number) => void;
  readonly onPlaceholder: (placeholder: string) => void;
}

/** The text between the buttons of both kinds. */
function TextField(props: TextFieldProps) {
  const { text, problems, placeholders, area, id, onChange, onFocus, onBlock, onPlaceholder } =
    props;
  return (
    <div class="field">
      <label for={`${id}-text`}>Text</label>
      <div class="toolbar" role="group" aria-label="Insert into the text">
        {BLOCKS.map(({ label }, index) => (
          <button key={label} type="button" class="button small" onClick={() => onBlock(index)}>
            {label}
          </button>
        ))}
      </div>
      <textarea
        ref={area}
        id={`${id}-text`}
        class="mail-text"
        rows={16}
        maxLength={20_000}
        value={text.text}
        onFocus={onFocus}
        onInput={(event) => onChange({ ...text, text: event.currentTarget.value })}
        {...describe(problems, 'text', id)}
      />
      <Problems problems={problems} field="text" id={id} />
      <div class="toolbar" role="group" aria-label="Insert a placeholder">
        {placeholders.map(({ placeholder, description, value }) => (
          <button
            key={placeholder}
            type="button"
            class="button small chip"
            title={value === null ? 'The catalogue has no value' : `Now: ${value}`}
            onClick={() => onPlaceholder(placeholder)}
          >
            {description}
          </button>
        ))}
      </div>
      <p class="hint">
        An empty line begins a new paragraph. The greeting, your signature and the link to
        unsubscribe are added.
      </p>
    </div>
  );
}

type FieldName = CampaignProblem['field'];

function describe(problems: readonly CampaignProblem[], field: FieldName, id: string) {
  const isInvalid = problems.some((problem) => problem.field === field);
  return {
    'aria-invalid': isInvalid,
    'aria-describedby': isInvalid ? `${id}-${field}-problems` : undefined,
  };
}

interface ProblemsProps {
  readonly problems: readonly CampaignProblem[];
  readonly field: FieldName;
  readonly id: string;
}

function Problems({ problems, field, id }: ProblemsProps) {
  const own = problems.filter((problem) => problem.field === field);
  if (own.length === 0) return null;
  return (
    <ul class="field-error" id={`${id}-${field}-problems`}>
      {own.slice(0, 5).map(({ line, message }, index) => (
        <li key={index}>
          {line === null ? '' : `Line ${line}: `}
          {message}
        </li>
      ))}
    </ul>
  );
}
