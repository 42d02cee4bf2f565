import { LANGUAGES } from '@latchkey/contract/constants';
import type { CampaignAudience, CampaignStart } from '@latchkey/contract';
import { LANGUAGE_NAMES } from '#console/ui/labels.ts';

interface AudienceEditorProps {
  readonly audience: CampaignAudience;
  readonly products: CampaignStart['products'];
  /** The pasted addresses; they are neither stored nor kept. */
  readonly list: string;
  readonly onChange: (audience: CampaignAudience) => void;
  readonly onList: (list: string) => void;
}

const SOURCES = [
  { value: 'subscribers', label: 'Newsletter subscribers', hint: 'Everyone who confirmed.' },
  { value: 'customers', label: 'Customers', hint: 'The addresses of licenses.' },
  { value: 'list', label: 'Pasted addresses', hint: 'Only for this mail.' },
] as const;

const STATUSES = [
  { value: 'active', label: 'Active' },
  { value: 'past_due', label: 'Past due' },
  { value: 'expired', label: 'Expired' },
  { value: 'canceled', label: 'Canceled' },
  { value: 'paused', label: 'Paused' },
  { value: 'suspended', label: 'Suspended' },
  { value: 'refunded', label: 'Refunded' },
  { value: 'revoked', label: 'Revoked' },
] as const;

/** Who gets the mail. */
export function AudienceEditor(props: AudienceEditorProps) {
  const { audience, products, onChange } = props;
  const { source } = audience;
  return (
    <div class="form">
      <fieldset class="choices">
        <legend>Send to</legend>
        {SOURCES.map(({ value, label, hint }) => (
          <label key={value} class="choice">
            <input
              type="radio"
              name="source"
              value={value}
              checked={source === value}
              onChange={() => onChange({ ...audience, source: value })}
            />
            <span>
              {label} <span class="dim small">{hint}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {source === 'list' && <ListField {...props} />}
      {source !== 'list' && products.length > 1 && (
        <Choices
          legend="With a license of"
          options={products.map(({ id, name }) => ({ value: id, label: name }))}
          selected={audience.products}
          onChange={(chosen) => onChange({ ...audience, products: chosen })}
        />
      )}
      {source === 'customers' && (
        <Choices
          legend="With a license that is"
          options={STATUSES}
          selected={audience.statuses}
          onChange={(statuses) => onChange({ ...audience, statuses })}
        />
      )}
      {source !== 'list' && (
        <Choices
          legend="Whose language is"
          options={LANGUAGES.map((value) => ({ value, label: LANGUAGE_NAMES[value] }))}
          selected={audience.languages}
          onChange={(languages) => onChange({ ...audience, languages })}
        />
      )}
    </div>
  );
}

interface ChoicesProps<Value extends string> {
  readonly legend: string;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly selected: readonly Value[];
  readonly onChange: (selected: Value[]) => void;
}

/** Boxes of which none means all. */
function Choices<Value extends string>(props: ChoicesProps<Value>) {
  const { legend, options, selected, onChange } = props;
  const toggle = (value: Value): void => {
    const isChosen = selected.includes(value);
    onChange(isChosen ? selected.filter((each) => each !== value) : [...selected, value]);
  };
  return (
    <fieldset class="choices inline">
      <legend>
        {legend} {selected.length === 0 && <span class="dim small">any</span>}
      </legend>
      {options.map(({ value, label }) => (
        <label key={value} class="choice">
          <input
            type="checkbox"
            checked={selected.includes(value)}
            onChange={() => toggle(value)}
          />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}

function ListField({ list, onList }: AudienceEditorProps) {
  return (
    <div class="field">
      <label for="recipient-list">Addresses</label>
      <textarea
        id="recipient-list"
        class="mono"
        rows={6}
        spellcheck={false}
        placeholder={'ada@example.com\nAda Lovelace <ada@example.com>\nada@example.com, Ada, en'}
        value={list}
        onInput={(event) => onList(event.currentTarget.value)}
      />
      <p class="hint">
        One on each line, with a name and a language if you have them. They are not saved with the
        draft.
      </p>
    </div>
  );
}
