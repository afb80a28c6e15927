//! What stands around the table.

mod cycle;
mod dialogs;
mod findings;
mod footer;
mod header;
mod landing;
mod open_buttons;
mod panel;
mod rank_legend;
mod reading;
mod search;
mod side;
mod stack;
mod stacks;
mod too_large;
mod verdict;

pub(crate) use dialogs::Dialogs;
pub(crate) use findings::Findings;
pub(crate) use footer::Footer;
pub(crate) use header::Header;
pub(crate) use landing::{Failed, Landing, NothingReadable};
pub(crate) use panel::{Panel, open_panel, panel_covers};
pub(crate) use rank_legend::RankLegend;
pub(crate) use reading::Reading;
pub(crate) use search::FIELD as FIND_FIELD;
pub(crate) use too_large::TooLarge;
pub(crate) use verdict::{Verdict, save_json};
