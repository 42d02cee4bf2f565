import type { CampaignStart, CampaignTexts } from '@latchkey/contract';

interface TemplatePickerProps {
  readonly templates: CampaignStart['templates'];
  readonly onPick: (texts: CampaignTexts) => void;
}

const NAMES: Readonly<Record<CampaignStart['templates'][number]['template'], string>> = {
  personal: 'Introduce the product',
  sellers: 'Offer for sellers',
  update_personal: 'New version',
  update_sellers: 'New version, for sellers',
  pi_tutorials: 'Tutorials',
};

/** Texts in every language to start from, as long as nothing is written. */
export function TemplatePicker({ templates, onPick }: TemplatePickerProps) {
  if (templates.length === 0) return null;
  return (
    <div class="field">
      <p class="label">Start from a template, or write your own</p>
      <div class="toolbar">
        {templates.map(({ template, texts }) => (
          <button key={template} type="button" class="button small" onClick={() => onPick(texts)}>
            {NAMES[template]}
          </button>
        ))}
      </div>
    </div>
  );
}
