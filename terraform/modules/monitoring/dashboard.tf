locals {
  charts = [
    { title = "Requests by status", metric = "run.googleapis.com/request_count", aligner = "ALIGN_RATE", reducer = "REDUCE_SUM", by = ["resource.label.service_name", "metric.label.response_code_class"] },
    { title = "Latency, 99th percentile", metric = "run.googleapis.com/request_latencies", aligner = "ALIGN_DELTA", reducer = "REDUCE_PERCENTILE_99", by = local.by_service },
    { title = "Processes", metric = "run.googleapis.com/container/instance_count", aligner = "ALIGN_MAX", reducer = "REDUCE_SUM", by = local.by_service },
    { title = "Memory, 99th percentile", metric = "run.googleapis.com/container/memory/utilizations", aligner = "ALIGN_DELTA", reducer = "REDUCE_PERCENTILE_99", by = local.by_service },
  ]
}

resource "google_monitoring_dashboard" "this" {
  project = var.project_id
  dashboard_json = jsonencode({
    displayName = "identity"
    mosaicLayout = {
      columns = 12
      # The API leaves out a position of zero, which would be a difference at every plan
      # (https://github.com/hashicorp/terraform-provider-google/issues/24650).
      tiles = [for index, chart in local.charts : merge({ for name, position in { xPos = index % 2 * 6, yPos = floor(index / 2) * 4 } : name => position if position != 0 }, {
        width  = 6
        height = 4
        widget = {
          title = chart.title
          xyChart = {
            dataSets = [{
              plotType = "LINE"
              timeSeriesQuery = {
                timeSeriesFilter = {
                  filter = "${local.of_all} AND metric.type = \"${chart.metric}\""
                  aggregation = {
                    alignmentPeriod    = "60s"
                    perSeriesAligner   = chart.aligner
                    crossSeriesReducer = chart.reducer
                    groupByFields      = chart.by
                  }
                }
              }
            }]
          }
        }
      })]
    }
  })
}
