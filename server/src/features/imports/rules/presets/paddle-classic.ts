import { UNKNOWN_LICENSE } from '../../facts.ts';
import { pickDetails, readDate, readText } from '../read-values.ts';
import { relatesNothing, type Preset } from './preset.ts';

/** The table "Sent Licenses Report" of Paddle Classic, which has no ends and no devices. */
export const paddleClassic: Preset = {
  columns: ['Order ID', 'Product ID', 'License Code', 'Date Sent'],
  read(record) {
    const licenseKey = readText(record, 'License Code');
    if (licenseKey === null) return { skipped: 'The row has no License Code.' };
    const product = readText(record, 'Product ID');
    const name = readText(record, 'Product Name');
    return {
      license: {
        ...UNKNOWN_LICENSE,
        sourceId: readText(record, 'Paddle License ID'),
        licenseKey,
        customerEmail: readText(record, 'Customer Email'),
        products: product === null ? [] : [{ id: product, name }],
        transactionId: readText(record, 'Order ID'),
        createdAt: readDate(record, 'Date Sent'),
        details: pickDetails(record, ['Order ID', 'Product ID', 'Paddle Issued License']),
      },
    };
  },
  relate: relatesNothing,
};
