// SPDX-License-Identifier: Apache-2.0
//
// victim_opencv DIR: calls the hooked functions of OpenCV, some so that they throw an exception
// through the hook.
#include <cstdio>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string dir = argv[1];
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  cv::Mat image(48, 64, CV_8UC3, cv::Scalar(10, 200, 30));
  const std::string path = dir + "/victim_opencv.jpg";
  if (!cv::imwrite(path, image)) return 3;
  std::vector<unsigned char> bytes;
  cv::imencode(".png", image, bytes);

  const cv::Mat read = cv::imread(path);
  std::printf("imread %d %d\n", read.rows, read.cols);
  std::printf("imread.none %d\n", cv::imread(dir + "/no such file").empty() ? 1 : 0);
  const cv::Mat decoded = cv::imdecode(bytes, cv::IMREAD_COLOR);
  std::printf("imdecode %d %d\n", decoded.rows, decoded.cols);
  cv::Mat reused;
  cv::imdecode(bytes, cv::IMREAD_GRAYSCALE, &reused);
  std::printf("imdecode.reuse %d %d\n", reused.rows, reused.channels());

  cv::Mat out;
  cv::resize(read, out, cv::Size(20, 10));
  std::printf("resize %d %d\n", out.rows, out.cols);
  cv::resize(read, out, cv::Size(), 0.5, 0.25, cv::INTER_NEAREST);
  std::printf("resize.factor %d %d\n", out.rows, out.cols);
  const cv::Mat matrix = cv::getRotationMatrix2D(cv::Point2f(32, 24), 30, 1);
  cv::warpAffine(read, out, matrix, cv::Size(30, 31), cv::INTER_LINEAR, cv::BORDER_CONSTANT,
                 cv::Scalar(1, 2, 3));
  std::printf("warp %d %d %d\n", out.rows, out.cols, out.at<cv::Vec3b>(30, 29)[1]);
  cv::cvtColor(read, out, cv::COLOR_BGR2GRAY);
  std::printf("cvtcolor %d\n", out.channels());
  cv::GaussianBlur(read, out, cv::Size(3, 5), 1.5, 2.5);
  std::printf("blur %d\n", out.rows);
  cv::flip(read, out, 1);

  int caught = 0;
  for (int i = 0; i < 100; ++i) {
    try {
      cv::resize(cv::Mat(), out, cv::Size(10, 10));
    } catch (const cv::Exception&) {
      ++caught;
    }
  }
  std::printf("caught %d\n", caught);
  cv::resize(read, out, cv::Size(20, 10));
  return 0;
}
